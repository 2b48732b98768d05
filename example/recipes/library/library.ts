import {
  Controller,
  createApp,
  dto,
  Field,
  Get,
  Item,
  lifespan,
  notFound,
  Page,
  Paginate,
  Post,
  select,
  Session,
} from 'sequitur'
import { literal, Op } from 'sequelize'
import { Author, Biography } from './author.js'
import { Book, BookTag, Tag } from './book.js'

class TagModel extends dto(Tag, { pick: ['name'] }) {}
class AuthorModel extends dto(Author, { pick: ['id', 'name'] }) {}

/** Declares the type of each association, and which columns of it are sent. */
class BookModel extends dto(Book, { pick: ['id', 'title', 'slug'] }) {
  @Field() author!: AuthorModel
  @Field({ type: [TagModel] }) tags!: TagModel[]
}

class AuthorSummary extends dto(Author, { pick: ['id', 'name'] }) {
  @Field({ type: 'integer' }) book_count!: number
}

class NewAuthor extends dto(Author, { pick: ['name'] }) {
  @Field() biography!: string
}

class NewBook extends dto(Book, { pick: ['title', 'author_id', 'prequel_id'] }) {
  @Field({ type: [String], maxItems: 20 }) tags!: string[]
}

@Controller('/books')
export class BookController {
  @Get('/', Page.of(BookModel))
  list(paginate: Paginate<BookModel>) {
    return paginate(select(Book, { include: [Author, Tag], order: ['title', [Tag, 'name', 'ASC']] }))
  }

  /** Books that have the tag. A condition on an include also selects which tags are sent: only this one. */
  @Get('/tagged', Page.of(Book))
  tagged(tag: string, paginate: Paginate<Book>) {
    return paginate(select(Book, { include: [Author, { model: Tag, where: { name: tag } }], order: ['title'] }))
  }

  /** The same books with all their tags: the condition is a subquery. */
  @Get('/with-all-tags', Page.of(BookModel))
  withAllTags(tag: string, session: Session, paginate: Paginate<BookModel>) {
    const ids = `SELECT book_id FROM book_tag JOIN tag ON tag.id = tag_id WHERE tag.name = ${session.sequelize.escape(tag)}`
    const where = { id: { [Op.in]: literal(`(${ids})`) } }
    return paginate(select(Book, { where, include: [Author, Tag], order: ['title', [Tag, 'name', 'ASC']] }))
  }

  @Get('/:book_id', Item.of(Book), { errors: { 404: 'Book not found' } })
  async get(book_id: number, session: Session) {
    const include = ['prequel', 'sequels', { model: Author, include: [Biography] }]
    return { data: (await session.get(Book, book_id, { include })) ?? notFound('Book not found') }
  }

  @Post('/', Item.of(BookModel))
  async create({ tags, ...columns }: NewBook, session: Session) {
    const book = session.add(Book.build(columns))
    await session.flush()
    for (const name of tags) {
      const [tag] = await Tag.findOrCreate({ where: { name } })
      await book.$add('tags', tag)
    }
    return { data: await book.reload({ include: [Author, Tag] }) }
  }
}

@Controller('/authors')
export class AuthorController {
  @Get('/', Page.of(AuthorSummary))
  list(paginate: Paginate<AuthorSummary>) {
    const book_count = literal('(SELECT count(*) FROM book WHERE book.author_id = author.id)')
    return paginate(select(Author, { attributes: { include: [[book_count, 'book_count']] } }))
  }

  @Post('/', Item.of(Author))
  async create({ name, biography }: NewAuthor, session: Session) {
    const author = session.add(Author.build({ name }))
    await session.flush()
    session.add(Biography.build({ author_id: author.id, text: biography }))
    await session.flush()
    return { data: await author.reload({ include: [Biography] }) }
  }
}

export const app = createApp({
  controllers: [BookController, AuthorController],
  models: [Author, Biography, Book, BookTag, Tag],
  lifespan,
})

await app.listen(Number(process.env['PORT'] ?? 8000))
