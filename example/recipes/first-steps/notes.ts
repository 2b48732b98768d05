import { Controller, Delete, dto, Get, Item, notFound, Page, Paginate, Post, select, Session } from 'sequitur'
import { Note } from './note.js'

class NewNote extends dto(Note, { omit: ['id'] }) {}

@Controller('/notes')
export class NoteController {
  @Get('/', Page.of(Note))
  list(paginate: Paginate<Note>) {
    return paginate(select(Note, { order: ['id'] }))
  }

  @Post('/', Item.of(Note))
  create(input: NewNote, session: Session) {
    return { data: session.add(Note.build(input)) }
  }

  @Delete('/:note_id', { status: 204, errors: { 404: 'Note not found' } })
  async remove(note_id: number, session: Session) {
    session.delete((await session.get(Note, note_id)) ?? notFound('Note not found'))
  }
}
