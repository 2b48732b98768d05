import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { newLifespan } from 'sequitur'
import { testApp, testDatabase } from 'sequitur/testing'
import { appOptions } from './app.js'
import { migrate } from './database.js'

/* After the API that https://docs.realworld.build describes. */

/** Each test creates a database of its own on each of these servers. */
const servers = process.env['test_urls']?.split(' ') ?? ['sqlite+sqlite3:///:memory:']

interface Answer {
  readonly status: number
  // any: each test asserts what it reads.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}
type Call = (method: string, path: string, json?: object) => Promise<Answer>

async function conduit(t: TestContext, server: string) {
  const { url, drop } = await testDatabase(server, { empty: true })
  await migrate(newLifespan(url))
  const api = await testApp(appOptions(newLifespan(url)))
  t.after(async () => {
    await api.close()
    await drop()
  })
  const as =
    (token?: string): Call =>
    async (method, path, json) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Token ${token}` }
      const response = await api.fetch(`/api${path}`, { method, headers, ...(json ? { json } : {}) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    }
  const register = async (username: string) => {
    const user = { username, email: `${username}@example.com`, password: 'password' }
    const { status, body } = await as()('POST', '/users', { user })
    assert.equal(status, 201)
    return as(body.user.token)
  }
  return { ...api, anyone: as(), as, register }
}

const tea = { title: 'How to make tea', description: 'With milk?', body: 'Warm the pot.', tagList: ['tea', 'kitchen'] }

for (const server of servers) {
  const name = server.replace(/[+:].*/, '')

  test(`${name}: users register, log in, and change what they are`, async (t) => {
    const { anyone, as, register } = await conduit(t, server)
    const robin = await register('robin')
    const { body: known } = await robin('GET', '/user')
    assert.deepEqual(
      { ...known.user, token: '' },
      {
        email: 'robin@example.com',
        username: 'robin',
        bio: null,
        image: null,
        token: '',
      },
    )
    const login = (password: string) =>
      anyone('POST', '/users/login', { user: { email: 'robin@example.com', password } })
    const { status, body } = await login('password')
    assert.equal(status, 200)
    assert.equal((await as(body.user.token)('GET', '/user')).body.user.username, 'robin')
    assert.deepEqual(await login('wrong'), { status: 401, body: { errors: { credentials: ['invalid'] } } })
    assert.deepEqual(await anyone('GET', '/user'), { status: 401, body: { errors: { token: ['is missing'] } } })
    assert.deepEqual(await as('x')('GET', '/user'), { status: 401, body: { errors: { token: ['is invalid'] } } })

    const changed = await robin('PUT', '/user', { user: { bio: 'A boy wonder', password: 'a new one' } })
    assert.deepEqual(
      [changed.status, changed.body.user.bio, changed.body.user.username],
      [200, 'A boy wonder', 'robin'],
    )
    assert.equal((await login('password')).status, 401)
    assert.equal((await login('a new one')).status, 200)

    const blank = await anyone('POST', '/users', {
      user: { username: '', email: 'x@example.com', password: 'password' },
    })
    assert.deepEqual(blank, { status: 422, body: { errors: { username: ["can't be blank"] } } })
    const wrong = await anyone('POST', '/users', { user: { username: 'x', email: 'x', password: 'password' } })
    assert.deepEqual(wrong, { status: 422, body: { errors: { email: ['is not an address'] } } })
    const taken = await anyone('POST', '/users', {
      user: { username: 'robin', email: 'y@example.com', password: 'password' },
    })
    assert.deepEqual(taken, { status: 409, body: { errors: { username: ['has already been taken'] } } })
    const short = await robin('PUT', '/user', { user: { password: 'short7c' } })
    assert.deepEqual([short.status, Object.keys(short.body.errors)], [422, ['password']])
    const emptied = await robin('PUT', '/user', { user: { bio: '', image: '' } })
    assert.deepEqual([emptied.body.user.bio, emptied.body.user.image], [null, null])
  })

  test(`${name}: articles are written, listed, changed and deleted`, async (t) => {
    const { anyone, register } = await conduit(t, server)
    const [robin, alfred] = [await register('robin'), await register('alfred')]
    const { status, body } = await robin('POST', '/articles', { article: tea })
    const { article } = body
    assert.equal(status, 201)
    assert.equal(article.slug, 'how-to-make-tea')
    const other = await robin('POST', '/articles', { article: { ...tea, title: '¿How to make téa?' } })
    assert.match(other.body.article.slug, /^how-to-make-tea-[0-9a-f]{8}$/)
    assert.equal((await robin('DELETE', `/articles/${other.body.article.slug}`)).status, 204)
    assert.deepEqual(
      [article.title, article.tagList, article.favorited, article.favoritesCount, article.author],
      [tea.title, ['kitchen', 'tea'], false, 0, { username: 'robin', bio: null, image: null, following: false }],
    )
    assert.ok(Math.abs(Date.parse(article.createdAt) - Date.now()) < 60_000)
    const path = `/articles/${article.slug}`
    assert.deepEqual((await anyone('GET', path)).body, body)
    const { body: list } = await anyone('GET', '/articles')
    const { body: _text, ...summary } = article
    assert.deepEqual(list, { articles: [summary], articlesCount: 1 })

    assert.deepEqual(await alfred('PUT', path, { article: { title: 'Mine' } }), {
      status: 403,
      body: { errors: { article: ['forbidden'] } },
    })
    const changed = await robin('PUT', path, { article: { title: 'How to make coffee', tagList: [] } })
    assert.equal(changed.body.article.slug, 'how-to-make-coffee')
    const same = { title: 'How to make coffee', description: 'Black' }
    const again = await robin('PUT', '/articles/how-to-make-coffee', { article: same })
    assert.deepEqual([again.body.article.slug, again.body.article.description], ['how-to-make-coffee', 'Black'])
    assert.deepEqual([changed.body.article.body, changed.body.article.tagList], [tea.body, []])
    assert.deepEqual(await robin('GET', path), { status: 404, body: { errors: { article: ['not found'] } } })
    const now = `/articles/${changed.body.article.slug}`
    assert.equal((await alfred('DELETE', now)).status, 403)
    assert.deepEqual(await robin('DELETE', now), { status: 204, body: undefined })
    assert.equal((await anyone('GET', '/articles')).body.articlesCount, 0)
    assert.equal((await anyone('POST', '/articles', { article: tea })).status, 401)
    for (const tag of ['', 'x'.repeat(101)])
      assert.deepEqual(await robin('POST', '/articles', { article: { ...tea, tagList: ['tea', tag] } }), {
        status: 422,
        body: { errors: { tagList: ['must have tags of 1 to 100 characters'] } },
      })
    assert.equal((await anyone('GET', '/articles')).body.articlesCount, 0)
    assert.deepEqual((await robin('POST', '/articles', { article: {} })).body.errors, {
      title: ["can't be blank"],
      description: ["can't be blank"],
      body: ["can't be blank"],
    })
  })

  test(`${name}: articles of one title, written at once, have slugs of their own`, async (t) => {
    const { register } = await conduit(t, server)
    const robin = await register('robin')
    const written = await Promise.all(Array.from({ length: 4 }, () => robin('POST', '/articles', { article: tea })))
    assert.deepEqual(
      written.map(({ status }) => status),
      [201, 201, 201, 201],
    )
    const paths = written.map(({ body }) => `/articles/${body.article.slug}`)
    const article = { title: 'How to make coffee' }
    const changed = await Promise.all(paths.map((path) => robin('PUT', path, { article })))
    const slugs = changed.map(({ body }) => body.article?.slug).toSorted()
    assert.equal(slugs[0], 'how-to-make-coffee')
    for (const slug of slugs.slice(1)) assert.match(slug, /^how-to-make-coffee-[0-9a-f]{8}$/)
    assert.equal(new Set(slugs).size, 4)
  })

  test(`${name}: one favorite, or follow, that is sent several times at once is one`, async (t) => {
    const { register } = await conduit(t, server)
    const [robin, alfred] = [await register('robin'), await register('alfred')]
    const { slug } = (await robin('POST', '/articles', { article: tea })).body.article
    const atOnce = (path: string) => Promise.all(Array.from({ length: 8 }, () => alfred('POST', path)))
    for (const { status, body } of await atOnce(`/articles/${slug}/favorite`))
      assert.deepEqual([status, body.article?.favorited, body.article?.favoritesCount], [200, true, 1])
    for (const { status, body } of await atOnce('/profiles/robin/follow'))
      assert.deepEqual([status, body.profile?.following], [200, true])
  })

  test(`${name}: lists are filtered and paged; the feed has who is followed`, async (t) => {
    const { anyone, register, fetch } = await conduit(t, server)
    const [robin, alfred] = [await register('robin'), await register('alfred')]
    const slugs: string[] = []
    for (const [number, author] of [robin, alfred, robin, alfred, alfred].entries()) {
      const article = { ...tea, title: `${number}`, tagList: [`tag${number % 2}`, 'all'] }
      slugs.unshift((await author('POST', '/articles', { article })).body.article.slug)
    }
    const titles = async (call: Call, path: string) => {
      const { articles, articlesCount } = (await call('GET', path)).body
      return [articles.map(({ title }: { title: string }) => title).join(''), articlesCount]
    }
    assert.deepEqual(await titles(anyone, '/articles'), ['43210', 5])
    assert.deepEqual(await titles(anyone, '/articles?limit=2&offset=1'), ['32', 5])
    assert.deepEqual(await titles(anyone, '/articles?tag=tag0'), ['420', 3])
    assert.deepEqual(await titles(anyone, '/articles?tag=all&author=alfred&limit=1'), ['4', 3])
    assert.deepEqual(await titles(anyone, '/articles?author=nobody'), ['', 0])
    for (const name of ['tag', 'author', 'favorited'])
      for (const hostile of [`' OR '1'='1`, `\\' OR 1=1 -- `, '%', '\0'])
        assert.notEqual((await anyone('GET', `/articles?${name}=${encodeURIComponent(hostile)}`)).body.articlesCount, 5)
    const favorite = await robin('POST', `/articles/${slugs[1]}/favorite`)
    assert.deepEqual([favorite.body.article.favorited, favorite.body.article.favoritesCount], [true, 1])
    assert.equal((await robin('POST', `/articles/${slugs[1]}/favorite`)).body.article.favoritesCount, 1)
    await alfred('POST', `/articles/${slugs[1]}/favorite`)
    const { favorited, favoritesCount } = (await anyone('GET', `/articles/${slugs[1]}`)).body.article
    assert.deepEqual([favorited, favoritesCount], [false, 2])
    assert.deepEqual(await titles(anyone, '/articles?favorited=robin'), ['3', 1])
    assert.deepEqual(await titles(anyone, '/articles?favorited=robin&tag=tag1&author=alfred'), ['3', 1])
    assert.equal((await robin('DELETE', `/articles/${slugs[1]}/favorite`)).body.article.favoritesCount, 1)
    assert.deepEqual(await titles(anyone, '/articles?favorited=robin'), ['', 0])

    assert.deepEqual(await titles(robin, '/articles/feed'), ['', 0])
    const follow = await robin('POST', '/profiles/alfred/follow')
    assert.deepEqual(follow, {
      status: 200,
      body: { profile: { username: 'alfred', bio: null, image: null, following: true } },
    })
    assert.deepEqual(await titles(robin, '/articles/feed?limit=2'), ['43', 3])
    assert.equal((await anyone('GET', '/profiles/alfred')).body.profile.following, false)
    assert.equal((await robin('DELETE', '/profiles/alfred/follow')).body.profile.following, false)
    assert.deepEqual(await titles(robin, '/articles/feed'), ['', 0])
    assert.equal((await anyone('GET', '/profiles/nobody')).status, 404)
    assert.equal((await anyone('GET', '/articles/feed')).status, 401)
    const asked = {
      origin: 'https://conduit.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization',
    }
    const preflight = await fetch('/api/user', { method: 'OPTIONS', headers: asked })
    assert.deepEqual(
      ['access-control-allow-origin', 'access-control-allow-headers'].map((name) => preflight.headers.get(name)),
      ['*', 'authorization'],
    )
    assert.deepEqual((await anyone('GET', '/tags')).body, { tags: ['all', 'tag0', 'tag1'] })
  })

  test(`${name}: comments belong to an article, and are removed by their authors`, async (t) => {
    const { anyone, register } = await conduit(t, server)
    const [robin, alfred] = [await register('robin'), await register('alfred')]
    const { slug } = (await robin('POST', '/articles', { article: tea })).body.article
    const path = `/articles/${slug}/comments`
    const { status, body } = await alfred('POST', path, { comment: { body: 'Without!' } })
    assert.deepEqual([status, body.comment.body, body.comment.author.username], [201, 'Without!', 'alfred'])
    assert.deepEqual((await anyone('GET', path)).body, { comments: [body.comment] })
    const comment = `${path}/${body.comment.id}`
    assert.deepEqual(await robin('DELETE', comment), { status: 403, body: { errors: { comment: ['forbidden'] } } })
    assert.equal((await alfred('DELETE', comment)).status, 204)
    assert.equal((await alfred('DELETE', comment)).status, 404)
    assert.equal((await anyone('GET', '/articles/none/comments')).status, 404)
    assert.deepEqual(await alfred('POST', path, { comment: { body: '' } }), {
      status: 422,
      body: { errors: { body: ["can't be blank"] } },
    })
    assert.equal((await robin('DELETE', `/articles/${slug}`)).status, 204)
  })
}
