import { dto, Field } from 'sequitur'
import { Event } from 'sequitur/feeds'
import { Comment, User } from './models.js'

class CommentAuthor extends dto(User, { pick: ['username', 'bio', 'image'] }) {}

/** The same for all readers: whether one follows the author is not in it. */
@Event('comment.added')
export class CommentAdded extends dto(Comment, { pick: ['id', 'body', 'createdAt', 'updatedAt'] }) {
  @Field() author!: CommentAuthor
}

@Event('comment.deleted')
export class CommentDeleted {
  @Field({ type: 'integer' }) id!: number
}

/** The topic of the comments of an article, whose slug changes with its title. */
export function topicOf(article_id: number): string {
  return `article-${article_id}`
}
