import { withSession } from 'sequitur'
import { hashPassword } from './auth.js'
import { Article, ArticleTag, Follow, User } from './models.js'

/** The first rows of an empty database. The password of both users is `password`. */
export async function seed(): Promise<void> {
  const password_hash = await hashPassword('password')
  await withSession(async () => {
    if ((await User.count()) > 0) return
    const robin = await User.create({ username: 'robin', email: 'robin@example.com', password_hash })
    const alfred = await User.create({ username: 'alfred', email: 'alfred@example.com', password_hash })
    await Follow.create({ follower_id: robin.id, followed_id: alfred.id })
    const texts = { description: 'With milk, or without?', body: 'Warm the pot first.' }
    const tea = await Article.create({
      ...texts,
      slug: 'how-to-make-tea',
      title: 'How to make tea',
      author_id: alfred.id,
    })
    await ArticleTag.create({ article_id: tea.id, tag: 'kitchen' })
  })
}
