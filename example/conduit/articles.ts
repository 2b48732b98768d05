import { randomBytes } from 'node:crypto'
import {
  Body,
  Controller,
  Delete,
  dto,
  Events,
  Field,
  Get,
  Inject,
  type MappedPaginate,
  named,
  newPagination,
  Post,
  Put,
  Query,
  select,
  Session,
  Transactional,
} from 'sequitur'
import { Feed, Feeds } from 'sequitur/feeds'
import { literal, Op, UniqueConstraintError } from 'sequelize'
import { CurrentUser } from './auth.js'
import { CommentAdded, CommentDeleted, topicOf } from './comments.js'
import { refuse } from './errors.js'
import { Article, ArticleTag, Comment, Favorite, findsNewRows } from './models.js'
import { ArticleSummary, ArticleView, CommentView, commentViewOf, viewOf, Views } from './views.js'

const BLANK = { minLength: 1, message: "can't be blank" } as const

class NewArticle {
  @Field({ ...BLANK, maxLength: 200 }) title!: string
  @Field(BLANK) description!: string
  @Field(BLANK) body!: string
  @Field({ type: [String], maxItems: 50, default: [] }) tagList!: string[]
}
class ArticleChanges extends dto(NewArticle, { partial: true }) {}
class NewComment {
  @Field(BLANK) body!: string
}
class ArticleFilter {
  @Field({ optional: true }) tag?: string
  @Field({ optional: true }) author?: string
  @Field({ optional: true }) favorited?: string
}

const ArticleResponse = named('ArticleResponse', { article: ArticleView })
const ArticlesResponse = named('ArticlesResponse', { articles: [ArticleSummary], articlesCount: 'integer' })
const articlePages = newPagination({ defaultPageSize: 20, map: viewOf })
type ArticlePages = MappedPaginate<Article, ArticleView>

/** The articles that a filter of the list names. */
const OF_ARTICLES: Readonly<Record<keyof ArticleFilter, (value: string) => string>> = {
  tag: (tag) => `SELECT article_id FROM article_tag WHERE tag = ${tag}`,
  author: (name) => `SELECT a.id FROM article a JOIN users u ON u.id = a.author_id WHERE u.username = ${name}`,
  favorited: (name) => `SELECT article_id FROM favorite f JOIN users u ON u.id = f.user_id WHERE u.username = ${name}`,
}

const errors = { 404: 'not found' } as const
/** MariaDB ends two writes of one slug with a deadlock. */
const ofSlugs = { retry: 5 } as const
const ofOwner = { errors: { 403: 'forbidden', 404: 'not found' } } as const

@Controller('/articles')
export class ArticleController {
  @Get('/', ArticlesResponse)
  async list(
    @Inject(articlePages) paginate: ArticlePages,
    @Query() filter: ArticleFilter,
    views: Views,
    { sequelize }: Session,
  ) {
    const ids = Object.entries(OF_ARTICLES).flatMap(([name, articles]) => {
      const value = filter[name as keyof ArticleFilter]
      return value === undefined ? [] : [{ id: { [Op.in]: literal(`(${articles(sequelize.escape(value))})`) } }]
    })
    return toResponse(await paginate(views.articles({ [Op.and]: ids })))
  }

  @Get('/feed', ArticlesResponse)
  async feed(@Inject(articlePages) paginate: ArticlePages, { user }: CurrentUser, views: Views) {
    const followed = literal(`(SELECT followed_id FROM follow WHERE follower_id = ${user.id})`)
    return toResponse(await paginate(views.articles({ author_id: { [Op.in]: followed } })))
  }

  @Get('/:slug', ArticleResponse, { errors })
  async get(slug: string, views: Views, session: Session) {
    return { article: await views.article(slug, session) }
  }

  @Post('/', ArticleResponse)
  @Transactional(ofSlugs)
  async create(
    @Body({ type: { article: NewArticle } }) input: { article: NewArticle },
    { user }: CurrentUser,
    views: Views,
    session: Session,
  ) {
    const { tagList, ...texts } = input.article
    const article = await withSlug(texts.title, session, (slug) =>
      Article.create({ ...texts, slug, author_id: user.id }),
    )
    await setTags(article, tagList)
    return { article: await views.article(article.slug, session) }
  }

  @Put('/:slug', ArticleResponse, ofOwner)
  @Transactional(ofSlugs)
  async update(
    slug: string,
    @Body({ type: { article: ArticleChanges } }) input: { article: ArticleChanges },
    user: CurrentUser,
    views: Views,
    session: Session,
  ) {
    const { tagList, ...changes } = input.article
    const article = await findOwn(slug, user, session)
    const { title = article.title } = changes
    if (title === article.title) await article.update(changes)
    else await withSlug(title, session, (slug) => article.update({ ...changes, slug }))
    if (tagList) await setTags(article, tagList)
    return { article: await views.article(article.slug, session) }
  }

  @Delete('/:slug', ofOwner)
  async remove(slug: string, user: CurrentUser, session: Session) {
    await session.delete(await findOwn(slug, user, session))
  }

  @Post('/:slug/favorite', ArticleResponse, { status: 200, errors })
  @Transactional(findsNewRows)
  async favorite(slug: string, { user }: CurrentUser, views: Views, session: Session) {
    const article = await findArticle(slug, session)
    await Favorite.findOrCreate({ where: { article_id: article.id, user_id: user.id } })
    return { article: await views.article(article.slug, session) }
  }

  @Delete('/:slug/favorite', ArticleResponse, { errors })
  async unfavorite(slug: string, { user }: CurrentUser, views: Views, session: Session) {
    const article = await findArticle(slug, session)
    await Favorite.destroy({ where: { article_id: article.id, user_id: user.id } })
    return { article: await views.article(article.slug, session) }
  }

  @Get('/:slug/comments', { comments: [CommentView] }, { errors })
  async comments(slug: string, views: Views, session: Session) {
    const { id } = await findArticle(slug, session)
    const comments = await session.all(views.comments({ article_id: id }))
    return { comments: comments.map(commentViewOf) }
  }

  /** What was committed after the comments above were read, and what is from now on. */
  @Get('/:slug/comments/events', Events.of(CommentAdded, CommentDeleted), { errors })
  async followComments(slug: string, feed: Feed, session: Session) {
    const article = await findArticle(slug, session)
    return feed.follow([CommentAdded, CommentDeleted], { topics: [topicOf(article.id)] })
  }

  @Post('/:slug/comments', { comment: CommentView }, { errors })
  async addComment(
    slug: string,
    @Body({ type: { comment: NewComment } }) input: { comment: NewComment },
    { user }: CurrentUser,
    views: Views,
    session: Session,
    feeds: Feeds,
  ) {
    const { id } = await findArticle(slug, session)
    const comment = await Comment.create({ ...input.comment, article_id: id, author_id: user.id })
    feeds.publish(CommentAdded, { ...comment.get(), author: user.get() }, { topic: topicOf(id) })
    const written = await session.first(views.comments({ id: comment.id }))
    return { comment: commentViewOf(written as Comment) } // it was just written
  }

  @Delete('/:slug/comments/:comment_id', ofOwner)
  async removeComment(slug: string, comment_id: number, { user }: CurrentUser, session: Session, feeds: Feeds) {
    const { id } = await findArticle(slug, session)
    const comment = await session.first(select(Comment, { where: { id: comment_id, article_id: id } }))
    if (!comment) return refuse(404, 'comment', 'not found')
    if (comment.author_id !== user.id) refuse(403, 'comment', 'forbidden')
    session.delete(comment)
    feeds.publish(CommentDeleted, { id: comment_id }, { topic: topicOf(id) })
  }
}

@Controller('/tags')
export class TagController {
  @Get('/', { tags: [String] })
  async list(session: Session) {
    const tags = await session.all(
      select(ArticleTag, { attributes: ['tag'], group: ['tag'], order: ['tag'], limit: 100 }),
    )
    return { tags: tags.map(({ tag }) => tag) }
  }
}

function toResponse({ data, meta }: Awaited<ReturnType<ArticlePages>>) {
  return { articles: data, articlesCount: meta.total_items }
}

/** Writes an article as `creme-brulee`, or as `creme-brulee-1f0c93ab` if there is one, or if there is one by then. */
async function withSlug(title: string, session: Session, write: (slug: string) => Promise<Article>): Promise<Article> {
  const slug = slugOf(title)
  if ((await session.count(select(Article, { where: { slug } }))) === 0) {
    try {
      return await session.nested(() => write(slug))
    } catch (error) {
      if (!(error instanceof UniqueConstraintError)) throw error
    }
  }
  return write(`${slug}-${randomBytes(4).toString('hex')}`)
}

/** Letters without their accents; others, such as those of Greek, stay. */
function slugOf(title: string): string {
  const words = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return (
    words
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 100) || 'article'
  )
}

async function setTags({ id }: Article, tags: readonly string[]): Promise<void> {
  if (tags.some((tag) => tag === '' || tag.length > 100))
    refuse(422, 'tagList', 'must have tags of 1 to 100 characters')
  await ArticleTag.destroy({ where: { article_id: id } })
  await ArticleTag.bulkCreate([...new Set(tags)].map((tag) => ({ article_id: id, tag })))
}

async function findArticle(slug: string, session: Session): Promise<Article> {
  return (await session.first(select(Article, { where: { slug } }))) ?? refuse(404, 'article', 'not found')
}

async function findOwn(slug: string, { user }: CurrentUser, session: Session): Promise<Article> {
  const article = await findArticle(slug, session)
  return article.author_id === user.id ? article : refuse(403, 'article', 'forbidden')
}
