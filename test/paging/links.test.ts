import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { type AppOptions, Base, Controller, Get, type Middleware, Page, Paginate, select } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Column, DataType, Table } from 'sequelize-typescript'
import { runs } from '../support/fuzz.js'

@Table({ tableName: 'leaf', timestamps: false })
class Leaf extends Base<Leaf> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING }) declare tree: string
}

@Controller('/')
class Leaves {
  @Get('/:tree/leaves', Page.of(Leaf)) list(tree: string, paginate: Paginate<Leaf>) {
    return paginate(select(Leaf, { where: { tree } }))
  }
}

async function leafApp(t: TestContext, options: Partial<AppOptions> = {}) {
  const { url, close } = await testApp({
    controllers: [Leaves],
    models: [Leaf],
    lifespan: memoryDatabase(),
    ...options,
  })
  t.after(close)
  return (path: string) => linkOf(url, path)
}

const leavesOf = (tree: string) => Leaf.bulkCreate([1, 2, 3, 4, 5].map((id) => ({ id, tree })) as never[])

/** The Link header of a path that is sent unencoded; fetch() would encode it. */
function linkOf(url: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path }, (answer) => {
      answer.resume().on('end', () => resolve(String(answer.headers.link ?? '')))
    })
    sent.on('error', reject).end()
  })
}

/** The target and the relation of each link, parsed as RFC 8288 describes. */
function parse(link: string): readonly (readonly [string, string])[] {
  return [...link.matchAll(/<([^>]*)>((?:;[^,<]*)?)/g)].map(([, target = '', rest = '']) => [target, rest])
}

test('a path cannot end a link in the header, or start another', async (t) => {
  const read = await leafApp(t)
  const tree = 'x>;rel="next",<https:'
  await leavesOf(tree)
  const links = parse(await read(`/${tree}/leaves?limit=2`))
  const path = `/${encodeURIComponent(tree).replace(/%3A|%2C|%3D|%3B/g, decodeURIComponent)}/leaves`
  assert.deepEqual(links, [
    [`${path}?offset=0&limit=2`, '; rel="first"'],
    [`${path}?offset=2&limit=2`, '; rel="next"'],
    [`${path}?offset=4&limit=2`, '; rel="last"'],
  ])
  assert.equal((await read(links[1]?.[0] ?? '')).includes('rel="prev"'), true)
})

test('each link leads to a path of the same host and has its relation, for any path', async (t) => {
  const read = await leafApp(t)
  const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
  const tree = fc.string({ unit: character.filter((one) => !'?#%/\\.'.includes(one)), minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(tree, async (tree) => {
      await Leaf.destroy({ where: {} })
      await leavesOf(tree)
      const links = parse(await read(`/${tree}/leaves?limit=2`))
      assert.deepEqual(
        links.map(([, relation]) => relation),
        ['; rel="first"', '; rel="next"', '; rel="last"'],
      )
      const next = new URL(links[1]?.[0] ?? '', 'http://here.example')
      assert.equal(next.host, 'here.example')
      assert.equal(decodeURIComponent(next.pathname), `/${tree}/leaves`)
    }),
    { numRuns: runs(100) },
  )
})

test('a mounted path that begins with two slashes does not lead to another host', async (t) => {
  const mount: Middleware = (request, _, next) => {
    Object.assign(request, { originalUrl: '//evil.example/oak/leaves' })
    next()
  }
  const read = await leafApp(t, { middleware: [mount] })
  await leavesOf('oak')
  const [[first = ''] = []] = parse(await read('/oak/leaves?limit=2'))
  assert.equal(
    new URL(first, 'http://here.example').href,
    'http://here.example//evil.example/oak/leaves?offset=0&limit=2',
  )
})

test('links keep a query parameter of any name', async (t) => {
  const read = await leafApp(t)
  await leavesOf('oak')
  const query = 'constructor=1&__proto__=2&toString=3'
  const [[first] = []] = parse(await read(`/oak/leaves?${query}&limit=2&offset=2`))
  assert.equal(first, `/oak/leaves?${query}&offset=0&limit=2`)
})

test('the header is short for any length of the query: the next page is linked first', async (t) => {
  const read = await leafApp(t)
  await leavesOf('oak')
  const relations = async (length: number) => {
    const link = await read(`/oak/leaves?limit=2&offset=2&tag=${'"'.repeat(length)}`)
    assert.ok(link.length <= 2048 + 6) // with what stands between links
    return parse(link).map(([, relation]) => relation.slice(7, -1))
  }
  assert.deepEqual(await relations(100), ['first', 'prev', 'next', 'last'])
  assert.deepEqual(await relations(300), ['prev', 'next'])
  assert.deepEqual(await relations(600), ['next'])
  assert.deepEqual(await relations(5000), [])
})
