import { Controller, Delete, dto, Get, Item, notFound, Page, Paginate, Patch, Post, select, Session } from 'sequitur'
import { Author, Book } from './book.js'

class NewAuthor extends dto(Author, { omit: ['id'] }) {}
class NewBook extends dto(Book, { omit: ['id'] }) {}
class BookChange extends dto(Book, { omit: ['id'], partial: true }) {}

@Controller('/authors')
export class AuthorController {
  @Post('/', Item.of(Author))
  create(input: NewAuthor, session: Session) {
    return { data: session.add(Author.build(input)) }
  }
}

@Controller('/books')
export class BookController {
  @Get('/', Page.of(Book))
  list(paginate: Paginate<Book>) {
    return paginate(select(Book, { include: [Author], order: ['title'] }))
  }

  @Get('/:book_id', Item.of(Book), { errors: { 404: 'Book not found' } })
  async get(book_id: number, session: Session) {
    return { data: (await session.get(Book, book_id, { include: [Author] })) ?? notFound('Book not found') }
  }

  @Post('/', Item.of(Book))
  create(input: NewBook, session: Session) {
    return { data: session.add(Book.build(input)) }
  }

  @Patch('/:book_id', Item.of(Book), { errors: { 404: 'Book not found' } })
  async change(book_id: number, input: BookChange, session: Session) {
    const book = (await session.get(Book, book_id)) ?? notFound('Book not found')
    return { data: await book.update(input) }
  }

  @Delete('/:book_id', { status: 204, errors: { 404: 'Book not found' } })
  async remove(book_id: number, session: Session) {
    session.delete((await session.get(Book, book_id)) ?? notFound('Book not found'))
  }
}
