import { dto, Field, Injectable } from 'sequitur'
import { Viewer } from './auth.js'
import { Article, ArticleTag, Comment, Favorite, Follow, User } from './models.js'

export class Profile extends dto(User, { pick: ['username', 'bio', 'image'] }) {
  @Field() following!: boolean
}

const ARTICLE = ['slug', 'title', 'description', 'body', 'createdAt', 'updatedAt'] as const

export class ArticleView extends dto(Article, { pick: ARTICLE }) {
  @Field({ type: [String] }) tagList!: string[]
  @Field() favorited!: boolean
  @Field({ type: 'integer' }) favoritesCount!: number
  @Field() author!: Profile
}
export class ArticleSummary extends dto(ArticleView, { omit: ['body'] }) {}

export class CommentView extends dto(Comment, { pick: ['id', 'body', 'createdAt', 'updatedAt'] }) {
  @Field() author!: Profile
}

/** What the viewer sees. The number of statements does not depend on the number of rows. */
@Injectable()
export class Views {
  readonly #me: number
  constructor(viewer: Viewer) {
    this.#me = viewer.user?.id ?? 0
  }

  async profile(user: User): Promise<Profile> {
    return (await this.#profiles([user.id]))(user.id)
  }

  async article(article: Article): Promise<ArticleView> {
    const [view] = await this.mapPage([article])
    return view as ArticleView // one for each article
  }

  /** For `newPagination({ mapPage: Views })`. */
  async mapPage(articles: Article[]): Promise<ArticleView[]> {
    const article_id = articles.map(({ id }) => id)
    const [tags, favorites, mine, profile] = await Promise.all([
      ArticleTag.findAll({ where: { article_id }, order: ['tag'] }),
      Favorite.count({ where: { article_id }, group: ['article_id'] }),
      Favorite.findAll({ where: { article_id, user_id: this.#me } }),
      this.#profiles(articles.map(({ author_id }) => author_id)),
    ])
    return articles.map((article) => ({
      ...article.get(),
      tagList: tags.flatMap(({ article_id: of, tag }) => (of === article.id ? [tag] : [])),
      favorited: mine.some(({ article_id: of }) => of === article.id),
      favoritesCount: favorites.find((group) => group['article_id'] === article.id)?.count ?? 0,
      author: profile(article.author_id),
    }))
  }

  async comments(comments: Comment[]): Promise<CommentView[]> {
    const profile = await this.#profiles(comments.map(({ author_id }) => author_id))
    return comments.map((comment) => ({ ...comment.get(), author: profile(comment.author_id) }))
  }

  async #profiles(ids: number[]): Promise<(id: number) => Profile> {
    const [users, followed] = await Promise.all([
      User.findAll({ where: { id: ids } }),
      Follow.findAll({ where: { follower_id: this.#me, followed_id: ids } }),
    ])
    const follows = new Set(followed.map(({ followed_id }) => followed_id))
    const profiles = new Map(
      users.map(({ id, username, bio, image }) => [id, { username, bio, image, following: follows.has(id) }]),
    )
    return (id) => profiles.get(id) as Profile // a foreign key leads to each
  }
}
