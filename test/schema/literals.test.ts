import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Body, Controller, createApp, Delete, Field, Get, named, Page, Paginate, Post, select } from 'sequitur'
import { programOf } from '../../src/http/openapi/program.js'
import { api, bootMessage } from '../support/api.js'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { temporaryFolder } from '../support/processes.js'

class Author {
  @Field() name!: string
}
class Article {
  @Field() title!: string
  @Field() author!: Author
}
const ArticleList = named('ArticleList', { articles: [Article], articlesCount: 'integer' })
const article = { title: 'On pages', author: { name: 'Robin', secret: 'x' }, secret: 'x' }
const sent = { title: 'On pages', author: { name: 'Robin' } }

@Controller('/articles')
class Articles {
  @Get('/', { articles: [Article], articlesCount: 'integer' }) list() {
    return { articles: [article], articlesCount: 1, secret: 'x' }
  }
  @Get('/named', ArticleList) named() {
    return { articles: [article], articlesCount: 1, secret: 'x' }
  }
  @Get('/nested', { at: 'date-time', list: [{ tags: ['string'] }], any: 'any' }, { summary: 'Nested' }) nested() {
    return { at: new Date(0), list: [{ tags: ['a'], secret: 'x' }], any: [1], secret: 'x' }
  }
  @Get('/wrong', { count: 'integer' }) wrong(): { count: number } {
    return { count: 'many' as never }
  }
  // All of them are names of options, too: it is the text of the documentation.
  @Get('/options', { summary: 'string', description: 'integer' }) options() {
    return 1
  }
  @Post('/', { article: Article }) create(@Body({ type: { article: Article } }) body: { article: Article }) {
    assert.ok(body.article instanceof Article)
    return body
  }
  @Delete('/:slug') remove(slug: string) {
    return slug.length
  }
}

test('an object of types is a response and a body: validated, and with nothing else in it', async (t) => {
  const { fetch, log } = await api(t, [Articles])
  const get = async (path: string) => (await fetch(`/articles${path}`)).json()
  assert.deepEqual(await get('/'), { articles: [sent], articlesCount: 1 })
  assert.deepEqual(await get('/named'), { articles: [sent], articlesCount: 1 })
  assert.deepEqual(await get('/nested'), { at: '1970-01-01T00:00:00.000Z', list: [{ tags: ['a'] }], any: [1] })
  assert.equal(await get('/options'), 1)
  assert.equal((await fetch('/articles/wrong')).status, 500)
  assert.match(log.join(), /count/)
  const post = (json: unknown) => fetch('/articles', { method: 'POST', json })
  assert.deepEqual(await (await post({ article: sent })).json(), { article: sent })
  const invalid = await post({ article: { title: 1 }, more: true })
  const { errors } = (await invalid.json()) as { errors: { path: string }[] }
  assert.equal(invalid.status, 422)
  assert.deepEqual(errors.map(({ path }) => path).toSorted(), ['/article/author', '/article/title', '/more'])
})

test('a literal is inline in the document, a named one is a component', () => {
  const { paths, components } = createApp({ controllers: [Articles], logger: false }).openapi()
  const schemaOf = (path: string) => paths?.[path]?.get?.responses?.['200'].content['application/json'].schema
  const list = {
    type: 'object',
    properties: { articles: { type: 'array', items: { $ref: '#/components/schemas/Article' } } },
    required: ['articles', 'articlesCount'],
    additionalProperties: false,
  }
  const { properties, ...rest } = schemaOf('/articles')
  assert.deepEqual({ ...rest, properties: { articles: properties.articles } }, list)
  assert.equal(properties.articlesCount.type, 'integer')
  assert.deepEqual(schemaOf('/articles/named'), { $ref: '#/components/schemas/ArticleList' })
  assert.deepEqual(components?.schemas?.['ArticleList'], schemaOf('/articles'))
  assert.equal(paths?.['/articles/nested']?.get?.summary, 'Nested')
})

test('a DELETE without a declared response is a 204, and documented so', async (t) => {
  const { fetch, log } = await api(t, [Articles])
  const response = await fetch('/articles/a', { method: 'DELETE' })
  assert.deepEqual([response.status, await response.text(), log.length], [204, '', 1])
  const { paths } = createApp({ controllers: [Articles], logger: false }).openapi()
  const statuses = Object.keys(paths?.['/articles/{slug}']?.delete?.responses ?? {})
  assert.deepEqual(
    statuses.filter((status) => status.startsWith('2')),
    ['204'],
  )
})

test('the Link header of pages is documented, and a group shows its path as the others do', async (t) => {
  @Controller('/teams/:team/heroes')
  class Heroes {
    @Get('/', Page.of(Hero)) list(team: string, paginate: Paginate<Hero>) {
      assert.equal(team, 'x')
      return paginate(select(Hero))
    }
  }
  const { fetch, app } = await databaseApp(t, sqliteFile, [Team, Hero], [Heroes])
  await Hero.bulkCreate([{ name: 'a' }, { name: 'b' }])
  assert.match((await fetch('/teams/x/heroes?limit=1')).headers.get('link') ?? '', /rel="next"/)
  const document = app.openapi()
  const { headers } = document.paths?.['/teams/{team}/heroes']?.get?.responses?.['200'] ?? {}
  assert.deepEqual(Object.keys(headers), ['Link'])
  assert.equal(document.tags?.[0]?.description, 'Operations of /teams/{team}/heroes')
})

test('the title and the version are those of the nearest package.json that has a name', () => {
  const folder = temporaryFolder()
  const source = join(folder, 'dist', 'src')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "heroes", "version": "1.2.3" }')
  writeFileSync(join(folder, 'dist', 'package.json'), '{ "type": "module" }')
  writeFileSync(join(source, 'package.json'), 'no JSON')
  const heroes = { title: 'heroes', version: '1.2.3' }
  assert.deepEqual(
    programOf(['node', join(source, 'main.js')], () => '/'),
    heroes,
  )
  assert.deepEqual(
    programOf(['node', '/a/node_modules/sequitur/dist/cli/main.js'], () => source),
    heroes,
  )
  const removed = () => {
    throw new Error('ENOENT')
  }
  assert.deepEqual(programOf(['node'], removed), { title: 'API', version: '0.0.0' })
})

test('wrong literals stop the start, and do not compile', () => {
  const message = (type: object) => {
    try {
      @Controller('/')
      class Wrong {
        @Get('/', type as never) get() {}
      }
      return bootMessage([Wrong])
    } catch (error) {
      return String(error)
    }
  }
  assert.match(message({ count: 'int' }), /count/)
  assert.match(message({ count: undefined }), /count/)
  assert.throws(() => named('List', { count: 'int' } as never), /is not an object of types/)
  assert.throws(() => named(1 as never, { count: 'integer' }), /named\(\): the name/)
  class Compiled {
    // @ts-expect-error a string is no integer
    @Get('/', { count: 'integer' }) get() {
      return { count: 'a' }
    }
    // @ts-expect-error a property is missing
    @Get('/', ArticleList) list() {
      return { articles: [] }
    }
  }
  assert.ok(Compiled)
})
