import { dto, Field, Injectable, type Select, select, type Session } from 'sequitur'
import { literal, type WhereOptions } from 'sequelize'
import { Viewer } from './auth.js'
import { refuse } from './errors.js'
import { Article, Comment, Follow, User } from './models.js'

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

const FAVORITES = 'SELECT count(*) FROM favorite WHERE favorite.article_id = article.id'

/** What the viewer sees, by one statement for all rows. */
@Injectable()
export class Views {
  readonly #me: number
  constructor(viewer: Viewer) {
    this.#me = viewer.user?.id ?? 0
  }

  /** Articles with all that {@link viewOf} needs. */
  articles(where: WhereOptions<Article>): Select<Article> {
    return select(Article, {
      where,
      attributes: {
        include: [
          [literal(`(${FAVORITES})`), 'favoritesCount'],
          [literal(`(${FAVORITES} AND favorite.user_id = ${this.#me})`), 'favorited'],
          [this.#follows('article.author_id'), 'following'],
        ],
      },
      include: ['author', 'tags'],
      order: [
        ['createdAt', 'DESC'],
        ['id', 'DESC'],
      ],
    })
  }

  async article(slug: string, session: Session): Promise<ArticleView> {
    return viewOf((await session.first(this.articles({ slug }))) ?? refuse(404, 'article', 'not found'))
  }

  comments(where: WhereOptions<Comment>): Select<Comment> {
    return select(Comment, {
      where,
      attributes: { include: [[this.#follows('comment.author_id'), 'following']] },
      include: ['author'],
      order: ['id'],
    })
  }

  async profile(user: User): Promise<Profile> {
    return profileOf(user, await Follow.count({ where: { follower_id: this.#me, followed_id: user.id } }))
  }

  #follows(author: string) {
    return literal(`(SELECT count(*) FROM follow WHERE followed_id = ${author} AND follower_id = ${this.#me})`)
  }
}

/** For `newPagination({ map })`. */
export function viewOf(article: Article): ArticleView {
  return {
    ...article.get(),
    tagList: article.tags.map(({ tag }) => tag).toSorted(),
    favorited: Number(article.get('favorited')) > 0,
    favoritesCount: Number(article.get('favoritesCount')),
    author: profileOf(article.author, article.get('following')),
  }
}

export function commentViewOf(comment: Comment): CommentView {
  return { ...comment.get(), author: profileOf(comment.author, comment.get('following')) }
}

/** PostgreSQL counts in texts. */
function profileOf({ username, bio, image }: User, follows: unknown): Profile {
  return { username, bio, image, following: Number(follows) > 0 }
}
