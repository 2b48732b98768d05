// Compiled and run with the client that `sequitur client` has generated of example/conduit.
import assert from 'node:assert/strict'
import { ApiError, client, configure } from './api.js'
import { retryOn, seen } from './api.sequitur.js'

configure({ serverUrl: process.argv[2] ?? '', retry: { retries: 2, retryOn }, ...seen() })

const user = { username: 'jane', email: 'jane@example.com', password: 'bat signal' }
const { token } = (await client.userRegister({ body: { user } })).user
assert.equal((await client.userLogin({ body: { user } })).user.username, 'jane')
await assert.rejects(
  client.userRegister({ body: { user } }),
  (error) => error instanceof ApiError && error.status === 409,
)
await assert.rejects(client.userCurrent(), (error) => error instanceof ApiError && error.status === 401)
client.auth.apiKey('Token', `Token ${token}`)
assert.equal((await client.userCurrent()).user.email, 'jane@example.com')
assert.equal((await client.userUpdate({ body: { user: { bio: 'Reads.' } } })).user.bio, 'Reads.')

const slugs: string[] = []
for (let number = 1; number <= 12; number++) {
  const text = { title: `Tea ${number}`, description: 'With milk?', body: 'Warm the pot.', tagList: ['kettle'] }
  slugs.unshift((await client.articleCreate({ body: { article: text } })).article.slug)
}
const mine: string[] = []
for await (const { slug, author } of client.articleList.items({ query: { author: 'jane', limit: 5 } })) {
  assert.equal(author.username, 'jane')
  mine.push(slug)
}
assert.deepEqual(mine, slugs)

const [slug = ''] = slugs
assert.equal(
  (await client.articleUpdate({ path: { slug }, body: { article: { body: 'Pour.' } } })).article.body,
  'Pour.',
)
assert.equal((await client.articleFavorite({ path: { slug } })).article.favoritesCount, 1)
assert.equal((await client.articleUnfavorite({ path: { slug } })).article.favorited, false)
// A stream has an id before its first event: comments are received from then on.
let open = () => {}
const opened = new Promise<void>((resolve) => (open = resolve))
const firstComment = (async () => {
  for await (const { event, data } of client.articleFollowComments({ path: { slug } })) {
    if (event === 'comment.added' && 'body' in data) return data.body
    open()
  }
  return undefined
})()
await opened
const { comment } = await client.articleAddComment({ path: { slug }, body: { comment: { body: 'Nice.' } } })
assert.equal(await firstComment, 'Nice.')
const { comments } = await client.articleComments({ path: { slug } })
assert.deepEqual(
  comments.map(({ body }) => body),
  ['Nice.'],
)
await client.articleRemoveComment({ path: { slug, comment_id: comment.id } })

assert.equal((await client.profileFollow({ path: { username: 'alfred' } })).profile.following, true)
const feed: string[] = []
for await (const { author } of client.articleFeed.items()) feed.push(author.username)
assert.deepEqual(new Set(feed), new Set(['alfred']))
assert.equal((await client.profileUnfollow({ path: { username: 'alfred' } })).profile.following, false)
assert.equal((await client.profileGet({ path: { username: 'alfred' } })).profile.username, 'alfred')

assert.ok((await client.tagList()).tags.includes('kettle'))
await client.articleRemove({ path: { slug } })
await assert.rejects(
  client.articleGet({ path: { slug } }),
  (error) => error instanceof ApiError && error.status === 404,
)
console.log('done')
