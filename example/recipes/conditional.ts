import {
  Base,
  Controller,
  Delete,
  dto,
  Get,
  Item,
  notFound,
  Page,
  Paginate,
  Patch,
  Post,
  select,
  Session,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'article', timestamps: false, version: true })
export class Article extends Base<Article> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false }) declare title: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
}

class NewArticle extends dto(Article, { pick: ['title', 'text'] }) {}
class ArticleChanges extends dto(Article, { pick: ['title', 'text'], partial: true }) {}

@Controller('/articles')
export class ArticleController {
  @Get('/', Page.of(Article, { etag: true }))
  list(paginate: Paginate<Article>) {
    return paginate(select(Article, { order: ['id'] }))
  }

  @Get('/:id', Item.of(Article, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Article, id)) ?? notFound('Article not found') }
  }

  @Post('/', Item.of(Article, { etag: true }))
  async create(article: NewArticle) {
    return { data: await Article.create({ ...article }) }
  }

  @Patch('/:id', Item.of(Article, { etag: true }))
  async change(id: number, changes: ArticleChanges, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Article, id, changes)) ?? notFound('Article not found') }
  }

  @Delete('/:id')
  async remove(id: number, ifMatch: IfMatch) {
    if (!(await ifMatch.delete(Article, id))) notFound('Article not found')
  }
}
