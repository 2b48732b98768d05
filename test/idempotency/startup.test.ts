import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Controller,
  Cookie,
  createApp,
  Events,
  events,
  Field,
  Get,
  Header,
  Injectable,
  newLifespan,
  Post,
  Put,
  Security,
  Transactional,
  withSession,
} from 'sequitur'
import { createIdempotencyTable, Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { DataTypes } from 'sequelize'
import type { Constructor } from '../../src/di/token.js'
import { databases, sqliteMemory } from '../support/databases.js'
import { models, NewPayment, Payment, PaymentController } from './app.js'

class Form {
  @File() photo!: UploadedFile
}
class Tick {
  @Field({ type: 'integer' }) n!: number
}
async function* ticks() {
  yield { data: { n: 1 } }
}
@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'session' })
class SessionUser {
  constructor(@Header({ optional: true }) readonly cookie?: string) {}
}

@Controller('/')
class Reads {
  @Idempotent() @Get('/') get() {}
}
@Controller('/')
class Puts {
  @Idempotent() @Put('/') put() {}
}
@Idempotent()
@Controller('/')
class OnlyReads {
  @Get('/') get() {}
}
@Controller('/')
class WithoutTransaction {
  @Idempotent() @Transactional(false) @Post('/') post() {}
}
@Controller('/')
class ReadOnly {
  @Idempotent() @Transactional({ readOnly: true }) @Post('/') post() {}
}
@Controller('/')
class Sends {
  @Idempotent() @Post('/', Events.of(Tick)) post() {
    return events(ticks())
  }
}
@Controller('/')
class Uploads {
  @Idempotent() @Post('/') post(@Multipart() form: Form) {
    void form
  }
}
@Controller('/')
class ByCookie {
  @Idempotent() @Post('/') post(user: SessionUser) {
    void user
  }
}
@Controller('/')
class ReadsCookies {
  @Idempotent() @Post('/') post(@Cookie() session: string) {
    void session
  }
}
@Controller('/')
class NoRoute {
  @Get('/') get() {}
  @Idempotent() helper() {}
}
@Controller('/')
class Right {
  @Idempotent() @Post('/') post() {}
}

const where = (name: string) => `${name} has @Idempotent()`

const WRONG: readonly (readonly [Constructor, string])[] = [
  [Reads, `${where('Reads.get')}, but handles GET, whose requests may be repeated as they are.`],
  [Puts, `${where('Puts.put')}, but handles PUT, whose requests may be repeated as they are.`],
  [OnlyReads, `${where('OnlyReads')}, but no POST or PATCH route, so that it would be ignored.`],
  [WithoutTransaction, `${where('WithoutTransaction.post')} and @Transactional(false), but the key is kept in`],
  [ReadOnly, `${where('ReadOnly.post')} and @Transactional({ readOnly: true }), but the key is written in`],
  [Sends, `${where('Sends.post')}, but sends events, which cannot be stored`],
  [Uploads, `${where('Uploads.post')}, but takes a multipart form, which no client sends twice`],
  [ByCookie, `${where('ByCookie.post')}, and authenticates clients by SessionUser, but clients are distinguished by`],
  [ReadsCookies, `${where('ReadsCookies.post')}, and reads cookies, but clients are distinguished by`],
  [NoRoute, 'NoRoute.helper has @Idempotent(), but is not a route'],
]

for (const [controller, message] of WRONG) {
  test(`the start stops with "${message}"`, () => {
    assert.throws(
      () => createApp({ controllers: [controller], lifespan: memoryDatabase() }),
      (error: Error) => error.name === 'BootError' && error.message.startsWith(message),
    )
  })
}

test('the start stops without a database, and without the model of the table', async () => {
  assert.throws(() => createApp({ controllers: [Right] }), {
    name: 'BootError',
    message:
      'Right.post has @Idempotent(), but the app has no database. Write createApp({ lifespan }), or remove the decorator.',
  })
  const app = createApp({ controllers: [Right], lifespan: memoryDatabase(), logger: false })
  await assert.rejects(app.start(), {
    name: 'BootError',
    message:
      'IdempotencyRecord, which Right.post uses, is a model of no database. Add it: createApp({ models: [IdempotencyRecord] }).',
  })
})

test('wrong values of options stop the start', () => {
  const wrong = [
    [{ required: 'no' }, '@Idempotent(): required is of type string. Write true or false.'],
    [
      { expiresAfter: 0 },
      '@Idempotent(): expiresAfter is 0. Write a whole number of milliseconds, from 1 to 31622400000.',
    ],
    [{ responseLimit: -1 }, '@Idempotent(): responseLimit is -1. Write a whole number of bytes, from 1 to 1073741824.'],
    [{ of: 'user' }, `@Idempotent(): of is 'user'. Write a function: (request) => request.headers['x-client'].`],
    [
      { model: Payment },
      '@Idempotent(): model is the class Payment. Write a class of your own: class OtherRecord extends IdempotencyRecord {}.',
    ],
  ] as const
  for (const [options, message] of wrong)
    assert.throws(() => Idempotent(options as never), { name: 'BootError', message })
  assert.throws(() => (Idempotent as unknown as ClassDecorator)(Right), {
    message: '@Idempotent on Right is not called. Write its parentheses: @Idempotent().',
  })
})

test('false on a route takes it out of those of its controller', async (t) => {
  @Idempotent()
  @Controller('/payments')
  class Some {
    @Post('/') all(input: NewPayment) {
      return Payment.create({ ...input }).then(() => 'paid')
    }
    @Idempotent(false) @Post('/free') free(input: NewPayment) {
      return this.all(input)
    }
    @Get('/') list() {
      return Payment.count()
    }
  }
  const app = await testApp({ controllers: [Some], models, lifespan: memoryDatabase() })
  t.after(app.close)
  const json = { account: 'Ann', amount: 1 }
  assert.equal((await app.fetch('/payments', { method: 'POST', json })).status, 400)
  assert.equal((await app.fetch('/payments/free', { method: 'POST', json })).status, 201)
  assert.equal(await (await app.fetch('/payments')).text(), '1')
})

for (const kind of databases.filter((kind) => kind !== sqliteMemory)) {
  test(`${kind.name}: the start names the missing table and its migration, which makes it`, async (t) => {
    const url = await kind.url()
    const options = { controllers: [PaymentController], models, logger: false } as const
    const create = (table: boolean) =>
      withSession(newLifespan(url), async ({ sequelize }) => {
        const queryInterface = sequelize.getQueryInterface()
        if (table) return createIdempotencyTable(queryInterface)
        await queryInterface.createTable('payment', {
          id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
          account: { type: DataTypes.STRING, allowNull: false },
          amount: { type: DataTypes.INTEGER, allowNull: false },
        })
      })
    await create(false)
    await assert.rejects(createApp({ ...options, lifespan: newLifespan(url) }).start(), {
      name: 'DatabaseStartError',
      message:
        `The tables do not match the models:\n  table idempotency_record is missing (model IdempotencyRecord). Write a migration: ` +
        `import { createIdempotencyTable } from 'sequitur/idempotency', and await createIdempotencyTable(queryInterface).\n` +
        'Run your migrations. To try the app out, create missing tables with toolkit_sync=true, or newLifespan(url, { sync: true }).',
    })
    await create(true)
    const app = await testApp({ ...options, lifespan: newLifespan(url) })
    t.after(app.close)
    const text = 'x'.repeat(200_000) // longer than a BLOB of MySQL without a length
    const sent = () =>
      app.fetch('/payments/nested', {
        method: 'POST',
        json: { account: text.slice(0, 200), amount: 1 },
        headers: { 'idempotency-key': 'a' },
      })
    assert.equal((await sent()).headers.get('idempotency-replayed'), null)
    assert.equal((await sent()).headers.get('idempotency-replayed'), 'true')
    await IdempotencyRecord.update({ body: Buffer.from(text) }, { where: {} })
    assert.equal(await (await sent()).text(), text)
  })
}

test('OpenAPI has the header, the refusals, and the header of responses that are sent again', () => {
  const document = createApp({ controllers: [PaymentController], models, lifespan: memoryDatabase() }).openapi()
  const at = (path: string) => document.paths?.[path]?.post
  const { parameters, responses } = at('/payments') ?? {}
  assert.deepEqual(parameters, [
    {
      name: 'idempotency-key',
      in: 'header',
      required: true,
      description:
        'A new key, such as a UUID, for each new request. Requests with the same key have one effect, and the same response.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
      'x-generated': true,
    },
  ])
  const described = Object.entries(responses ?? {}).map(([status, { description }]) => [status, description])
  assert.deepEqual(described, [
    ['201', 'Success'],
    ['400', 'The request cannot be read. Or: The header Idempotency-Key is missing, or is not a key'],
    ['409', 'A request with this Idempotency-Key is still running'],
    ['413', 'The body is too large'],
    ['415', 'The body is not JSON'],
    ['422', 'The request does not fit its description. Or: The Idempotency-Key was sent before with another request'],
    ['503', 'The service is unavailable; try again later'],
    ['default', 'Any other error'],
  ])
  assert.deepEqual(Object.keys(responses?.['409'].headers ?? {}), ['Retry-After'])
  assert.deepEqual(responses?.['201'].headers, {
    'idempotency-replayed': {
      description: '`true` if this is the stored response of an earlier request with the same key',
      schema: { type: 'string' },
    },
  })
  assert.deepEqual(
    at('/payments/optional')?.parameters?.map((one) => 'required' in one && one.required),
    [false],
  )
})
