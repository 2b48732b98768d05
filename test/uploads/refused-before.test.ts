import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  type AppOptions,
  Base,
  Controller,
  Factory,
  forbidden,
  guard,
  Header,
  Injectable,
  Post,
  provide,
  Query,
  Request,
  Security,
  select,
  Session,
  sql,
  token,
  Transactional,
  unauthorized,
} from 'sequitur'
import { type CreationOptional, DatabaseError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import type { Token } from '../../src/di/token.js'
import { api, type LoggedApp } from '../support/api.js'
import { connection } from '../support/connection.js'
import { databaseApp, databases, type DatabaseApp, sqliteMemory, statements } from '../support/databases.js'
import { noTemporaryFiles, rawForm, temporaryFiles } from '../support/uploads.js'
import { gate, until } from '../support/waiting.js'

class Upload {
  @File({ maxSize: 700_000_000 }) file!: UploadedFile
}

/** What was there when the requirement of a kind ran. */
let stored: number[] = []

/** Notes what is stored, and refuses strangers. */
function check(authorization: string): void {
  stored.push(temporaryFiles().length)
  if (authorization !== 'Bearer me') unauthorized('Who are you?')
}

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class User {
  constructor(@Header({ optional: true }) authorization: string = '') {
    check(authorization)
  }
}

@Injectable()
class OfHeader {
  constructor(@Header({ optional: true }) authorization: string = '') {
    check(authorization)
  }
}

@Injectable()
class Service {
  constructor(readonly user: OfHeader) {}
}

@Injectable()
class Chain {
  constructor(
    readonly service: Service,
    @Query({ optional: true }) readonly color?: string,
  ) {}
}

class Later {
  @Factory()
  static async of(@Header({ optional: true }) authorization: string = '') {
    await new Promise((resolve) => setImmediate(resolve))
    check(authorization)
    return new Later()
  }
}
Injectable()(Later)

class Provided {}
const provided = provide(Provided, {
  lifetime: 'request',
  inject: [Request],
  factory: async ({ headers }: Request) => (check(headers.authorization ?? ''), new Provided()),
})

const named = token<object>('named')
const byToken = provide(named, {
  lifetime: 'request',
  inject: [Request],
  factory: ({ headers }: Request) => (check(headers.authorization ?? ''), {}),
})

@Injectable()
class Disposed {
  static disposed = 0
  constructor(request: Request) {
    check(request.headers.authorization ?? '')
  }
  async [Symbol.asyncDispose]() {
    Disposed.disposed++
  }
}

const allowed = guard([Request], async ({ headers }) => {
  stored.push(temporaryFiles().length)
  return headers.authorization === 'Bearer me' || forbidden()
})

const kinds: readonly (readonly [kind: string, requires: Token, refusal?: number])[] = [
  ['with a header', OfHeader],
  ['with @Security', User],
  ['of a chain of injected classes', Chain],
  ['with an asynchronous factory', Later],
  ['of a provider', Provided],
  ['of a token', named],
  ['that is disposed', Disposed],
  ['of a guard', allowed, 403],
]

function uploads(requires: readonly Token[]) {
  @Controller('/')
  class Uploads {
    static readonly sizes: number[] = []
    @Post('/', { requires, status: 204 }) store(@Multipart() { file }: Upload) {
      Uploads.sizes.push(file.size)
    }
  }
  return Uploads
}

async function uploading(t: TestContext, requires: readonly Token[], options: Partial<AppOptions> = {}) {
  stored = []
  const controller = uploads(requires)
  const app = await api(t, [controller], { providers: [provided, byToken], ...options })
  return { ...app, sizes: controller.sizes }
}

const FILE = 'Content-Disposition: form-data; name="file"; filename="a"'

function header(length: number, others = ''): string {
  return `POST / HTTP/1.1\nHost: a\nContent-Type: multipart/form-data; boundary=X\nContent-Length: ${length}\n${others}\n`
}

for (const [kind, requires, refusal = 401] of kinds) {
  test(`a requirement ${kind} refuses before a byte of the form is sent, and its client reads the ${refusal}`, async (t) => {
    const { url } = await uploading(t, [requires])
    const { send, closed } = connection(t, url)
    send(header(600_000_000))
    assert.match(await closed, new RegExp(`^HTTP/1.1 ${refusal} .*\r\nconnection: close\r\n.*}$`, 'is'))
    assert.deepEqual([stored, temporaryFiles()], [[0], []])
  })

  test(`a requirement ${kind} passes before the form is stored`, async (t) => {
    const { url, sizes } = await uploading(t, [requires])
    const socket = connection(t, url)
    const form = rawForm([FILE, 'x'.repeat(400_000)])
    await socket.sendAll(header(form.length, 'Authorization: Bearer me\n') + form)
    assert.match(await socket.received(/\r\n\r\n/), /^HTTP\/1.1 204/)
    assert.deepEqual([stored, sizes], [[0], [400_000]])
    await noTemporaryFiles()
  })
}

test('a stranger who sends on without end reads the 401', async (t) => {
  const { url } = await uploading(t, [OfHeader])
  const { send, received } = connection(t, url)
  send(header(600_000_000) + `--X\n${FILE}\n\n${'x'.repeat(20_000_000)}`)
  assert.match(await received(/}$/), /^HTTP\/1.1 401/)
  assert.deepEqual(temporaryFiles(), [])
})

test('a stranger who waits for 100 Continue is not asked for the form, others are, also for one beyond the bodyLimit', async (t) => {
  const { url, sizes } = await uploading(t, [OfHeader])
  const form = rawForm([FILE, 'x'.repeat(2_000_000)])
  const stranger = connection(t, url)
  stranger.send(header(form.length, 'Expect: 100-continue\n'))
  assert.match(await stranger.closed, /^HTTP\/1.1 401/)
  const member = connection(t, url)
  member.send(header(form.length, 'Expect: 100-continue\nAuthorization: Bearer me\n'))
  await member.received(/^HTTP\/1.1 100 Continue\r\n\r\n/)
  member.send(form)
  await member.received(/HTTP\/1.1 204/)
  assert.deepEqual(sizes, [2_000_000])
})

test('strangers are refused before 413 and 415, members are not', async (t) => {
  const { url, fetch } = await uploading(t, [OfHeader])
  const text = (authorization: string) => fetch('/', { method: 'POST', body: 'a', headers: { authorization } })
  assert.deepEqual([(await text('')).status, (await text('Bearer me')).status], [401, 415])
  for (const [others, status] of [
    ['', 401],
    ['Authorization: Bearer me\n', 413],
  ] as const) {
    const { send, closed } = connection(t, url)
    send(header(800_000_000, others))
    assert.match(await closed, new RegExp(`^HTTP/1.1 ${status}`))
  }
})

test('an invalid input of a requirement is a 422 before the form, with the issues of the first classes alone', async (t) => {
  @Injectable()
  class Key {
    constructor(@Header() x_key: number) {
      if (x_key !== 7) unauthorized()
    }
  }
  @Controller('/')
  class Uploads {
    @Post('/:id', { requires: [Key], status: 204 }) store(id: number, @Multipart() _form: Upload) {
      return void id
    }
  }
  const app = await api(t, [Uploads])
  const { send, closed } = connection(t, app.url)
  send(header(600_000_000, 'X-Key: a\n').replace('POST /', 'POST /a'))
  const { errors } = JSON.parse((await closed).replace(/^.*?\r\n\r\n/s, '')) as { errors: { path: string }[] }
  assert.deepEqual([errors.map(({ path }) => path), temporaryFiles()], [['/x-key'], []])
  const form = formWith('a')
  const post = (key: string) =>
    app.fetch('/a', {
      method: 'POST',
      body: form,
      headers: { 'x-key': key, 'content-type': 'multipart/form-data; boundary=X' },
    })
  assert.deepEqual([(await post('8')).status, (await post('7')).status], [401, 422])
})

function formWith(content: string): string {
  return rawForm([FILE, content])
}

test('what is disposed is disposed once: when it is refused itself, when its form is, and behind the handler', async (t) => {
  Disposed.disposed = 0
  const app = await uploading(t, [Disposed, Later])
  const large = formWith('x'.repeat(400_000))
  const post = (authorization: string, body: string) =>
    app.fetch('/', {
      method: 'POST',
      body,
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=X' },
    })
  const counts: number[] = []
  for (const [authorization, body, status] of [
    ['', large, 401],
    ['Bearer me', 'no form', 400],
    ['Bearer me', large, 204],
  ] as const) {
    assert.equal((await post(authorization, body)).status, status)
    counts.push(Disposed.disposed)
    await noTemporaryFiles()
  }
  const client = connection(t, app.url)
  client.send(header(600_000_000, 'Authorization: Bearer me\n') + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
  await until('the file is stored', () => temporaryFiles().length === 2)
  client.destroy()
  await noTemporaryFiles()
  await until('it is disposed', () => Disposed.disposed === 3)
  assert.deepEqual(counts, [0, 1, 2])
})

/** A service that needs the form, or wraps the handler: it is made behind the form. */
@Injectable()
class OfForm {
  constructor(
    @Multipart() readonly form: Upload,
    @Header({ optional: true }) authorization: string = '',
  ) {
    check(authorization)
  }
}

class Managed {}
const managed = provide(Managed, {
  inject: [Request],
  managed: async (use, request) => (check(request.headers.authorization ?? ''), use(new Managed())),
})

@Injectable()
class OfManaged {
  constructor(
    readonly managed: Managed,
    readonly user: OfHeader,
  ) {}
}

test('a requirement that takes the form refuses behind it, and before the other inputs are validated', async (t) => {
  stored = []
  @Controller('/')
  class Signed {
    @Post('/:id', { requires: [OfForm, allowed], status: 204 }) store(id: number) {
      return void id
    }
  }
  const app = await api(t, [Signed])
  const send = async (path: string, authorization: string) => {
    const headers = { authorization, 'content-type': 'multipart/form-data; boundary=X' }
    const { status } = await app.fetch(path, { method: 'POST', body: formWith('x'.repeat(400_000)), headers })
    await noTemporaryFiles()
    return status
  }
  assert.deepEqual([await send('/a', ''), stored.splice(0)], [403, [0]])
  assert.deepEqual([await send('/a', 'Bearer me'), stored.splice(0)], [422, [0, 2]])
  assert.deepEqual([await send('/1', 'Bearer me'), stored.splice(0)], [204, [0, 2]])
  await noTemporaryFiles()
})

test('a managed value is not held while the form arrives: it, and what needs it, is made behind it', async (t) => {
  const app = await uploading(t, [OfManaged], { providers: [managed] })
  const headers = { authorization: 'Bearer me', 'content-type': 'multipart/form-data; boundary=X' }
  const { status } = await app.fetch('/', { method: 'POST', body: formWith('x'.repeat(400_000)), headers })
  assert.equal(status, 204)
  assert.deepEqual(stored.toSorted(), [0, 2])
})

@Table({ tableName: 'token', timestamps: false })
class Key extends Base<Key> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), allowNull: false }) declare text: string
}

const authorizationOf = ({ headers }: Request) => headers.authorization ?? ''

/** Ways to use the database in a requirement. */
const users: readonly (readonly [way: string, find: (session: Session, text: string) => Promise<unknown>])[] = [
  ['session.first()', (session, text) => session.first(select(Key, { where: { text } }))],
  ['session.execute()', (session, text) => session.execute(sql`SELECT ${text} FROM token`)],
  ['a model', (_, text) => Key.findOne({ where: { text } })],
  ['a write of a model', (_, text) => Key.create({ text })],
  ['a savepoint', (session, text) => session.nested(() => Key.count({ where: { text } }))],
  ['the transaction', (session, text) => Key.findOne({ where: { text }, transaction: session.transaction })],
  ['a flush', (session, text) => (session.add(Key.build({ text })), session.flush())],
]

class Account {}
const accounts = (find: (session: Session, text: string) => Promise<unknown>, seen: number[]) =>
  provide(Account, {
    lifetime: 'request',
    inject: [Session, Request],
    factory: async (session: Session, request: Request) => {
      await find(session, authorizationOf(request))
      seen.push(temporaryFiles().length)
      if (authorizationOf(request) !== 'Bearer me') unauthorized()
      return new Account()
    },
  })

async function withDatabase(
  t: TestContext,
  kind: (typeof databases)[number],
  requires: readonly Token[],
  providers: AppOptions['providers'],
): Promise<DatabaseApp & { readonly sizes: number[] }> {
  const controller = uploads(requires)
  const app = await databaseApp(t, kind, [Key], [controller], { providers: [...(providers ?? [])] })
  return { ...app, sizes: controller.sizes }
}

const sendTo = (app: Pick<LoggedApp, 'fetch'>, authorization: string, size = 400_000) =>
  app.fetch('/', {
    method: 'POST',
    body: formWith('x'.repeat(size)),
    headers: { authorization, 'content-type': 'multipart/form-data; boundary=X' },
  })

for (const kind of databases)
  for (const [way, find] of users)
    test(`${kind.name}: a requirement that uses ${way} does so behind the form, in the transaction of the handler`, async (t) => {
      const seen: number[] = []
      const app = await withDatabase(t, kind, [Account], [accounts(find, seen)])
      const { send, received } = connection(t, app.url)
      const form = formWith('x'.repeat(400_000))
      send(header(form.length) + form.slice(0, 350_000))
      await until('the file is stored', () => temporaryFiles().length === 2)
      assert.deepEqual([statements(app.log), seen], [[], []])
      send(form.slice(350_000))
      assert.match(await received(/\r\n\r\n/), /^HTTP\/1.1 401/)
      assert.equal((await sendTo(app, 'Bearer me')).status, 204)
      assert.deepEqual([seen, app.sizes], [[2, 2], [400_000]])
      const rows = await app.database.sequelize.query('SELECT text FROM token')
      const isWrite = way.includes('write') || way.includes('flush')
      assert.deepEqual(rows[0], isWrite ? [{ text: 'Bearer me' }] : [])
      await noTemporaryFiles()
    })

test('a requirement that injects a session, and refuses before it uses it, does so before the form', async (t) => {
  const account = provide(Account, {
    lifetime: 'request',
    inject: [Session, Request],
    factory: async (session: Session, request: Request) => {
      if (authorizationOf(request) === '') unauthorized()
      await session.execute(sql`SELECT 1`)
      return new Account()
    },
  })
  const app = await withDatabase(t, sqliteMemory, [Account], [account])
  const { send, closed } = connection(t, app.url)
  send(header(600_000_000))
  assert.match(await closed, /^HTTP\/1.1 401/)
  assert.equal((await sendTo(app, 'Bearer me')).status, 204)
})

for (const kind of databases)
  test(`${kind.name}: a requirement that refuses beside a query of its own is not kept waiting for the form`, async (t) => {
    const account = provide(Account, {
      lifetime: 'request',
      inject: [Session, Request],
      factory: async (session: Session, request: Request) => {
        const refused = async () => authorizationOf(request) === '' && unauthorized()
        await Promise.all([session.execute(sql`SELECT 1`), refused()])
        return new Account()
      },
    })
    const app = await withDatabase(t, kind, [Account], [account])
    const { send, closed } = connection(t, app.url)
    send(header(600_000_000) + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
    assert.match(await closed, /^HTTP\/1.1 401/)
    await noTemporaryFiles()
    assert.deepEqual(statements(app.log), [])
    assert.equal((await sendTo(app, 'Bearer me')).status, 204)
  })

test('what waits for the form fails as the form does, whatever becomes of it', async (t) => {
  const account = provide(Account, {
    lifetime: 'request',
    inject: [Session],
    factory: async (session: Session) => session.execute(sql`SELECT 1`).then(() => new Account()),
  })
  const app = await withDatabase(t, sqliteMemory, [Account], [account])
  const headers = { 'content-type': 'multipart/form-data; boundary=X' }
  const bodies = ['no form', rawForm([FILE, 'a']).replace('--X--\r\n', '')]
  for (const body of bodies) assert.equal((await app.fetch('/', { method: 'POST', body, headers })).status, 400)
  const { send, closed } = connection(t, app.url)
  send(header(800_000_000))
  assert.match(await closed, /^HTTP\/1.1 413/)
  assert.deepEqual(statements(app.log), [])
})

test('each attempt of a transaction makes its requirements anew, and the form is read once', async (t) => {
  stored = []
  const sizes: number[] = []
  @Controller('/')
  class Retried {
    @Transactional({ retry: 2 })
    @Post('/', { requires: [Disposed, OfManaged], status: 204 })
    async store(@Multipart() { file }: Upload, session: Session) {
      await session.execute(sql`SELECT 1`)
      sizes.push((await file.bytes()).length)
      if (sizes.length < 3) throw new DatabaseError(Object.assign(new Error('busy'), { code: 'SQLITE_BUSY', sql: '' }))
    }
  }
  Disposed.disposed = 0
  const app = await databaseApp(t, sqliteMemory, [Key], [Retried], { providers: [managed] })
  assert.equal((await sendTo(app, 'Bearer me')).status, 204)
  assert.deepEqual(sizes, [400_000, 400_000, 400_000])
  // Disposed, OfHeader and Managed of each attempt; before the form only those of the first.
  assert.deepEqual([stored, Disposed.disposed], [[0, 0, 2, 2, 2, 2, 2, 2, 2], 3])
})

test('a client that stops sending behind its requirements gets the 503, and nothing remains', async (t) => {
  Disposed.disposed = 0
  const app = await uploading(t, [Disposed], { timeouts: { handler: 500 } })
  const socket = connection(t, app.url)
  socket.send(header(500_000, 'Authorization: Bearer me\n') + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
  assert.match(await socket.received(/\r\n\r\n/), /^HTTP\/1.1 503/)
  await noTemporaryFiles()
  await until('it is disposed', () => Disposed.disposed === 1)
})

test('a requirement that takes too long gets the 503, and its form is not read', async (t) => {
  const { opened, open } = gate()
  t.after(open)
  class Slow {}
  const slow = provide(Slow, { lifetime: 'request', factory: () => opened.then(() => new Slow()) })
  const app = await uploading(t, [Slow], { providers: [slow], timeouts: { handler: 500 } })
  const socket = connection(t, app.url)
  socket.send(header(600_000_000) + `--X\n${FILE}\n\n${'x'.repeat(400_000)}`)
  assert.match(await socket.closed, /^HTTP\/1.1 503/)
  assert.deepEqual(temporaryFiles(), [])
})
