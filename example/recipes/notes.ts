import { setTimeout } from 'node:timers/promises'
import {
  Base,
  Controller,
  createApp,
  dto,
  Events,
  events,
  Field,
  Get,
  Header,
  Inject,
  Item,
  type MappedPaginate,
  named,
  newLifespan,
  newPagination,
  notFound,
  Page,
  Paginate,
  Patch,
  Post,
  select,
  Session,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { Rows, rows } from 'sequitur/exports'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'note', timestamps: false, version: true })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false }) declare text: string
}

class NewNote extends dto(Note, { pick: ['text'] }) {}

class Tick {
  @Field({ type: 'integer' }) number!: number
}

const Titles = named('Titles', { titles: [String], count: 'integer' })
const titles = newPagination({ map: ({ text }: Note) => text })

async function* ticks(after: number, signal: AbortSignal) {
  for (let number = after + 1; ; number++) {
    yield { id: String(number), data: { number } }
    await setTimeout(100, undefined, { signal })
  }
}

@Controller('/notes')
class NoteController {
  @Get('/', CursorPage.of(Note))
  list(paginate: CursorPaginate<Note>) {
    return paginate(select(Note, { order: ['id'] }))
  }

  @Get('/pages', Page.of(Note))
  pages(paginate: Paginate<Note>) {
    return paginate(select(Note, { order: ['id'] }))
  }

  /** An envelope of its own. */
  @Get('/titles', Titles)
  async titles(@Inject(titles) paginate: MappedPaginate<Note, string>) {
    const { data, meta } = await paginate(select(Note, { order: ['id'] }))
    return { titles: data, count: meta.total_items }
  }

  @Get('/export', Rows.of(Note))
  export() {
    return rows(select(Note, { order: ['id'] }))
  }

  @Get('/ticks', Events.of(Tick))
  ticks(signal: AbortSignal, @Header({ type: 'integer', default: 0 }) last_event_id: number) {
    return events(ticks(last_event_id, signal))
  }

  @Get('/:note_id', Item.of(Note, { etag: true }))
  async get(note_id: number, session: Session) {
    return { data: (await session.get(Note, note_id)) ?? notFound('Note not found') }
  }

  @Idempotent()
  @Post('/', Item.of(Note))
  async create(input: NewNote) {
    return { data: await Note.create({ ...input }) }
  }

  @Patch('/:note_id', Item.of(Note, { etag: true }))
  async change(note_id: number, input: NewNote, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Note, note_id, input)) ?? notFound('Note not found') }
  }
}

const app = createApp({
  controllers: [NoteController],
  models: [Note, IdempotencyRecord],
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///:memory:', sync: true }),
})
await app.listen(Number(process.env['PORT'] ?? 0))
