import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  Base,
  Controller,
  createApp,
  Field,
  Get,
  guard,
  Header,
  Injectable,
  newLifespan,
  Post,
  Security,
  Session,
  sql,
  withSession,
} from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { testApp } from 'sequitur/testing'
import { api } from './support/api.js'
import { exchange } from './support/connection.js'
import { databaseApp, databases } from './support/databases.js'

/*
 * That SECURITY.md says what is so. The links and the files that it names are checked in test/docs.test.ts.
 */

const root = new URL('../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const page = read('SECURITY.md')

/** The cells of the rows of all tables of a page. */
function rowsOf(text: string): string[][] {
  return text.split('\n').flatMap((line) =>
    line.startsWith('| ')
      ? [
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ]
      : [],
  )
}

/** Source: OWASP API Security Top 10 2023. */
const RISKS = [
  'Broken object level authorization',
  'Broken authentication',
  'Broken object property level authorization',
  'Unrestricted resource consumption',
  'Broken function level authorization',
  'Unrestricted access to sensitive business flows',
  'Server side request forgery',
  'Security misconfiguration',
  'Improper inventory management',
  'Unsafe consumption of APIs',
]

test('the page has each of the ten risks, with what is done here and what the program has to do', () => {
  const sections = page.split(/^### /m).filter((section) => /^API\d/.test(section))
  assert.deepEqual(
    sections.map((section) => section.split('\n')[0]),
    RISKS.map((risk, index) => `API${index + 1} ${risk}`),
  )
  for (const section of sections) assert.match(section, /\n- \*\*Here:\*\* [^]*\n- \*\*The program:\*\* /)
})

test('the defaults of the page are those of docs/configuration.md', () => {
  const documented = new Map<string, string>()
  for (const [code = '', url = '', , , fallback = ''] of rowsOf(read('docs/configuration.md')))
    for (const name of [code, url]) if (name !== '') documented.set(name, fallback)
  const [section = ''] = page.split(/^## Defaults$/m)[1]?.split(/^## /m) ?? []
  const rows = rowsOf(section).slice(2)
  assert.ok(rows.length > 10)
  for (const [name = '', fallback] of rows)
    assert.equal(fallback, documented.get(name.replace('timeouts.', '')), `the default of ${name}`)
})

test('the page names the version of Node that the package requires', () => {
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  assert.ok(page.includes(`Node ${engines.node.replace('>=', '')} and later versions`))
})

test('nothing in the source sends requests, but the app of a test to itself, and the command line to the document that it is asked for', () => {
  const sources = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  const code = (name: string) => read(`src/${name}`).replaceAll(/^ *\/?\*.*$/gm, '') // without the examples in comments
  const sending = sources.filter((name) => /\.[jt]s$/.test(name) && SENDS.test(code(name)))
  assert.deepEqual(sending.toSorted(), [join('cli', 'client', 'document.ts'), 'testing.ts'])
})

/** Calls and imports; texts for people have `fetch()`. */
const SENDS = /(?<![.\w])fetch\((?!\))|https?\.(?:request|get)\(|from '(?:undici|node:https|node:dgram|node:dns)'/

class Note {
  @Field() text!: string
}

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class User {
  constructor(@Header({ optional: true }) readonly authorization: string = '') {}
}

@Controller('/notes')
class Notes {
  @Get() list() {
    return []
  }
  @Post('/', Note) create(note: Note) {
    return note
  }
}

test('pages of other sites can neither read responses nor send JSON without asking first, and no header names the server', async (t) => {
  const { fetch, close } = await testApp({ controllers: [Notes] })
  t.after(close)
  const origin = { origin: 'https://other.example' }
  const read = await fetch('/notes', { headers: origin })
  const asked = { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  const preflight = await fetch('/notes', { method: 'OPTIONS', headers: asked })
  for (const { headers } of [read, preflight])
    for (const [name] of headers) assert.doesNotMatch(name, /^access-control-|^server$|^x-powered-by$/)
  // The media types that a form of another site may send.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b']) {
    const headers = { ...origin, 'content-type': type }
    assert.equal((await fetch('/notes', { method: 'POST', headers, body: '{"text":"a"}' })).status, 415, type)
  }
})

test('the OpenAPI document tells which operations are public', () => {
  const admins = guard([User], () => true)
  @Controller('/admin', { requires: [admins] })
  class Admin {
    @Get('/users') users() {
      return []
    }
    @Post('/reset') reset() {}
  }
  @Controller('/me')
  class Me {
    @Get() get(user: User) {
      return user.authorization
    }
  }
  const { paths = {} } = createApp({ controllers: [Notes, Admin, Me], logger: false }).openapi()
  const open = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item ?? {}).flatMap(([method, operation]) =>
      (operation as { security?: readonly unknown[] }).security?.length ? [] : `${method} ${path}`,
    ),
  )
  assert.deepEqual(open.toSorted(), ['get /notes', 'post /notes'])
})

for (const kind of databases)
  test(`${kind.name}: the entry of an error has no header, body, query or bound value`, async (t) => {
    @Controller('/failing')
    class Failing {
      @Post() async fail(note: Note, session: Session) {
        await session.execute(sql`SELECT ${note.text} FROM nowhere`)
      }
    }
    const { fetch, log } = await databaseApp(t, kind, [], [Failing], { lifespan: { echo: false } })
    const headers = { authorization: 'Bearer secret-1', cookie: 'sid=secret-2', 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'secret-3' })
    assert.equal((await fetch('/failing?token=secret-4', { method: 'POST', headers, body })).status, 500)
    const entry = log.join('\n')
    assert.match(entry, /POST \/failing .*nowhere/)
    assert.doesNotMatch(entry, /secret/)
  })

test('a method that a path does not have is a 405, what is no method of HTTP a 400', async (t) => {
  @Controller()
  class Things {
    @Get('/') get() {
      return 1
    }
  }
  const { url } = await api(t, [Things])
  for (const [method, status] of [
    ['PUT', 405],
    ['PROPFIND', 405],
    ['FOO', 400],
  ] as const)
    assert.match(
      await exchange(t, url, `${method} / HTTP/1.1\nHost: a\nConnection: close\n\n`),
      new RegExp(`^HTTP/1.1 ${status} `),
    )
})

test('a declared response has only its properties, and one that is not declared all that the handler returns', async (t) => {
  class Public {
    @Field() name!: string
  }
  const account = () => ({ name: 'Ann', secret: 'x' })
  @Controller()
  class Accounts {
    @Get('/declared', Public) declared() {
      return account()
    }
    @Get('/all') all() {
      return account()
    }
  }
  const { fetch } = await api(t, [Accounts])
  assert.deepEqual(await (await fetch('/declared')).json(), { name: 'Ann' })
  assert.deepEqual(await (await fetch('/all')).json(), account())
})

@Table({ tableName: 'member', timestamps: false })
class Member extends Base<Member> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), unique: true }) declare mail: string
  @Column({ type: DataType.STRING(50), defaultValue: 'hidden-note' }) declare note: CreationOptional<string>
}

for (const kind of databases)
  test(`${kind.name}: a 409 says that a value is taken, and nothing else of the row that has it`, async (t) => {
    class NewMember {
      @Field() mail!: string
    }
    @Controller()
    class Members {
      @Post('/', { status: 204 }) async add({ mail }: NewMember) {
        await Member.create({ mail })
      }
    }
    const { fetch } = await databaseApp(t, kind, [Member], [Members])
    const post = () => fetch('/', { method: 'POST', json: { mail: 'ann@example.com' } })
    assert.equal((await post()).status, 204)
    const response = await post()
    const body = await response.text()
    assert.equal(response.status, 409)
    assert.match(body, /mail/)
    assert.doesNotMatch(body, /hidden-note|INSERT|ann@example|constraint/i)
  })

test('a new SQLite file can be read by its owner alone, an existing one keeps its mode', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'security-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [created, existing] = [join(folder, 'new.sqlite'), join(folder, 'old.sqlite')]
  writeFileSync(existing, '')
  chmodSync(existing, 0o644)
  for (const file of [created, existing]) {
    const database = newLifespan(`sqlite+sqlite3:///${file}`)
    await withSession(database, (session) => session.execute(sql`SELECT 1`))
  }
  assert.deepEqual([statSync(created).mode & 0o777, statSync(existing).mode & 0o777], [0o600, 0o644])
})
