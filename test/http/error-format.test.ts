import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UniqueConstraintError } from 'sequelize'
import {
  type AppOptions,
  conflict,
  Controller,
  createApp,
  errorFormat,
  Field,
  Get,
  HttpError,
  mapError,
  Post,
  ServiceUnavailable,
} from 'sequitur'
import { app } from '../../example/recipes/error-format.js'
import { api, bootMessage } from '../support/api.js'
import { exchange } from '../support/connection.js'
import { databaseApp, databases } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

class Missing extends Error {}
class MissingHero extends Missing {}
class Wrong extends Error {}

let thrown: () => unknown = () => undefined

class Name {
  @Field() name!: string
}

@Controller('/')
class Throwing {
  @Get() get() {
    throw thrown()
  }
  @Post() post(_name: Name) {}
}

class ErrorBody {
  @Field({ type: [String] }) body!: string[]
}
const format = errorFormat(ErrorBody, ({ title, detail = title, errors = [] }) => ({
  body: errors.length > 0 ? errors.map(({ path, message }) => `${path.slice(1)} ${message}`) : [detail],
  secret: 'never sent',
}))

async function said(response: Response): Promise<unknown> {
  return [response.status, response.headers.get('content-type'), await response.json()]
}

test('a mapped error, and one of a subclass, has its status; the first mapping that fits is used', async (t) => {
  const { fetch, log } = await api(t, [Throwing], {
    errors: {
      mappings: [
        mapError(MissingHero, ({ message }) => new HttpError(410, message, { extensions: { code: 'gone' } })),
        mapError(Missing, 404),
        mapError(Wrong, 502),
        mapError(RangeError, ({ message }) => conflict(message)),
      ],
    },
  })
  const answers: unknown[] = []
  for (const make of [
    () => new MissingHero('a'),
    () => new Missing('b'),
    () => new Wrong('c'),
    () => new RangeError('d'),
  ]) {
    thrown = make
    const { status, title, detail, code } = (await (await fetch('/')).json()) as Record<string, unknown>
    answers.push([status, title, detail, code])
  }
  assert.deepEqual(answers, [
    [410, 'Gone', 'a', 'gone'],
    [404, 'Not Found', 'b', undefined],
    [502, 'Bad Gateway', 'Bad Gateway', undefined],
    [409, 'Conflict', 'd', undefined],
  ])
  assert.deepEqual([log.length, log[0]?.includes('Error: c')], [1, true])
})

for (const kind of databases)
  test(`${kind.name}: an error of the database can be mapped, and its transaction is rolled back`, async (t) => {
    @Controller('/')
    class Heroes {
      @Post() async create() {
        await Hero.create({ name: 'Robin' })
        await Hero.create({ name: 'Robin' })
      }
    }
    const mappings = [mapError(UniqueConstraintError, () => new HttpError(422, 'has been taken'))]
    const app = await databaseApp(t, kind, [Team, Hero], [Heroes], { errors: { mappings } })
    const response = await app.fetch('/', { method: 'POST' })
    assert.deepEqual([response.status, ((await response.json()) as { detail: string }).detail], [422, 'has been taken'])
    assert.equal(await Hero.count(), 0)
  })

test('a mapping that fails is a 500, and both errors are logged', async (t) => {
  const mapping = mapError(Missing, () => {
    throw new Error('in the mapping')
  })
  const { fetch, log } = await api(t, [Throwing], { errors: { mappings: [mapping] } })
  thrown = () => new Missing('the first one')
  assert.equal((await fetch('/')).status, 500)
  assert.match(log.join('\n'), /in the mapping/)
  assert.match(log.join('\n'), /the first one/)
})

test('a mapping, a translation and a format that are asynchronous are a 500, and do not end the process when they fail', async (t) => {
  const failing = () => Promise.reject(new Error('It is asynchronous.')) as never
  const isFormatted = (status: number) => status === 418
  const apps: readonly Partial<AppOptions>[] = [
    { errors: { mappings: [mapError(Missing, failing)] } },
    { errors: { translate: failing } },
    {
      errors: { format: errorFormat(ErrorBody, ({ status }) => (isFormatted(status) ? failing() : { body: [] })) },
    },
  ]
  for (const options of apps) {
    const { fetch, log } = await api(t, [Throwing], options)
    thrown = () => (options.errors?.format ? new HttpError(418) : new Missing('a'))
    assert.equal((await fetch('/')).status, 500)
    await new Promise((resolve) => setImmediate(resolve))
    assert.match(log.join('\n'), /ErrorRuleError/)
  }
})

test('the type and the extensions of an HttpError are in the body; the standard members stay what they are', async (t) => {
  const { fetch } = await api(t, [Throwing])
  thrown = () => new HttpError(402, 'No.', { type: 'https://example.com/trial', extensions: { code: 7, list: [1] } })
  assert.deepEqual(await (await fetch('/')).json(), {
    type: 'https://example.com/trial',
    title: 'Payment Required',
    status: 402,
    detail: 'No.',
    code: 7,
    list: [1],
  })
  assert.throws(
    () => new HttpError(402, 'No.', { extensions: { status: 200 } }),
    /RangeError: .*'status' is not an extension/,
  )
})

test('every error response has the body of the app, also where there is no route, no request, and at the end', async (t) => {
  const { url, fetch, close } = await api(t, [Throwing], { errors: { format }, bodyLimit: 100 })
  thrown = () => new ServiceUnavailable('Later.')
  const json = { 'content-type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = json) => fetch('/', { method: 'POST', body, headers })
  const cases: readonly (readonly [Promise<Response>, number, string])[] = [
    [fetch('/'), 503, 'Later.'],
    [fetch('/nowhere'), 404, 'There is nothing at this address.'],
    [fetch('/', { method: 'PUT' }), 405, 'This address does not support PUT.'],
    [post('{}'), 422, 'name is required'],
    [post('{"name":'), 400, 'The body is not JSON'],
    [post(`{"name":"${'a'.repeat(200)}"}`), 413, ''],
    [post('a', { 'content-type': 'text/plain' }), 415, ''],
  ]
  for (const [asked, status, text] of cases) {
    const [got, type, body] = (await said(await asked)) as [number, string, { body: string[] }]
    assert.deepEqual([got, type, Object.keys(body)], [status, 'application/json', ['body']])
    assert.ok(String(body.body).startsWith(text), String(body.body))
  }
  for (const bytes of [
    'GET / HTTP/1.1\nHost: a\nHost: b\n\n',
    'no HTTP\n\n',
    'GET / HTTP/1.1\nHost: a\nExpect: b\n\n',
  ]) {
    const text = await exchange(t, url, bytes)
    assert.match(text, /^HTTP\/1\.1 4\d\d [^]*content-type: application\/json\r\n[^]*\r\n\r\n\{"body":\["[^"]+"\]\}$/i)
  }
  await close()
})

test('a body that the format cannot write is sent as problem details, and logged', async (t) => {
  const failing = errorFormat(ErrorBody, ({ detail }) => {
    if (detail === 'fail') throw new Error('in the format')
    return { body: [] }
  })
  const { fetch, log } = await api(t, [Throwing], { errors: { format: failing } })
  thrown = () => new HttpError(404, 'fail')
  const response = await fetch('/')
  assert.deepEqual([response.status, response.headers.get('content-type')], [500, 'application/problem+json'])
  assert.match(log.join('\n'), /in the format/)
})

test('the document has the body of the app, with examples, and no Problem', () => {
  const document = createApp({ controllers: [Throwing], errors: { format }, logger: false }).openapi()
  const responses = document.paths?.['/']?.post?.responses ?? {}
  assert.deepEqual(responses['422'].content, {
    'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' }, example: { body: ['name is required'] } },
  })
  assert.deepEqual(Object.keys(document.components?.schemas ?? {}).toSorted(), ['ErrorBody', 'Name'])
})

test('wrong mappings and formats stop the start', () => {
  const refused = (make: () => object) => {
    try {
      return bootMessage([Throwing], make())
    } catch (error) {
      return String(error)
    }
  }
  const messages = [
    refused(() => ({ errors: { mappings: [Missing] } })),
    refused(() => ({ errors: { mappings: [mapError(Missing, 200)] } })),
    refused(() => ({ errors: { mappings: [mapError(HttpError, 400)] } })),
    refused(() => ({ errors: { mappings: [mapError('Missing' as never, 400)] } })),
    refused(() => ({ errors: { format: ErrorBody } })),
    refused(() => ({ errors: { format: errorFormat(ErrorBody, ({ detail }) => ({ body: [detail as string] })) } })),
    refused(() => ({ errors: { mapping: [] } })),
  ]
  const expected = [
    /mappings\[0\] is the class Missing\. Write mapError/,
    /the status of Missing/,
    /HttpError already has a status/,
    /'Missing' is not a class/,
    /errors\.format is the class ErrorBody\. Write errorFormat/,
    /errors\.format cannot write .*404/,
    /mapping.*mappings/,
  ]
  for (const [index, pattern] of expected.entries()) assert.match(messages[index] ?? '', pattern)
})

test('the recipe: mapped errors in a format of its own', async (t) => {
  const { url } = await app.listen(0)
  t.after(() => app.close())
  const post = async (item: string) => said(await fetch(`${url}/orders/${item}`, { method: 'POST' }))
  const json = 'application/json'
  assert.deepEqual(await post('1'), [409, json, { errors: { body: ['It is out of stock'] } }])
  assert.deepEqual(await post('2'), [402, json, { errors: { body: ['The payment was declined (declined)'] } }])
  assert.deepEqual(await post('x'), [422, json, { errors: { body: ['item_id must be an integer'] } }])
})

class Article {
  @Field({ minLength: 3, maxLength: 5 }) title!: string
  @Field({ enum: ['draft', 'public'] }) state!: string
  @Field({ pattern: '^[a-z]+$', message: 'own' }) slug!: string
}

@Controller('/articles')
class Articles {
  @Post() add(_article: Article) {
    conflict('The title is taken')
  }
}

const GERMAN: Readonly<Record<string, string>> = {
  'The title is taken': 'Der Titel ist vergeben',
  'is required': 'fehlt',
}

test('texts are translated by the language of the request; their rules are not sent', async (t) => {
  const asked: unknown[] = []
  const { fetch } = await api(t, [Articles], {
    errors: {
      translate: (text, request, issue) => {
        if (request.headers['accept-language'] !== 'de') return undefined
        if (issue) asked.push([issue.path, issue.rule, issue.params?.['limit']])
        return issue?.rule === 'minLength' ? `mindestens ${issue.params?.['limit']} Zeichen` : GERMAN[text]
      },
    },
  })
  const post = async (json: object, language: string) => {
    const response = await fetch('/articles', { method: 'POST', json, headers: { 'accept-language': language } })
    return (await response.json()) as { detail: string; errors?: unknown }
  }
  const wrong = { title: 'a', slug: '1' }
  assert.deepEqual((await post(wrong, 'de')).errors, [
    { in: 'body', path: '/state', message: 'fehlt' },
    { in: 'body', path: '/title', message: 'mindestens 3 Zeichen' },
    { in: 'body', path: '/slug', message: 'own' },
  ])
  assert.deepEqual(asked, [
    ['/state', 'required', undefined],
    ['/title', 'minLength', 3],
    ['/slug', undefined, undefined],
  ])
  assert.deepEqual((await post(wrong, 'fr')).errors, [
    { in: 'body', path: '/state', message: 'is required' },
    { in: 'body', path: '/title', message: 'must have at least 3 characters' },
    { in: 'body', path: '/slug', message: 'own' },
  ])
  const right = { title: 'abc', slug: 'a', state: 'draft' }
  assert.equal((await post(right, 'de')).detail, 'Der Titel ist vergeben')
  assert.equal((await post(right, 'en')).detail, 'The title is taken')
})

test('a translation that throws is a 500, and logged with the text', async (t) => {
  const translate = () => {
    throw new Error('no dictionary')
  }
  const { fetch, log } = await api(t, [Articles], { errors: { translate } })
  assert.equal((await fetch('/nowhere')).status, 500)
  assert.match(log.join(), /errors\.translate cannot translate "/)
  assert.match(bootMessage([Articles], { errors: { translate: 'de' as never } }), /errors\.translate is 'de'\. Write a/)
})

test('a translation that is no string is a 500, and logged', async (t) => {
  for (const translated of [Promise.resolve('fehlt'), 5]) {
    const { fetch, log } = await api(t, [Articles], { errors: { translate: () => translated as never } })
    const response = await fetch('/nowhere')
    const { detail } = (await response.json()) as { detail: unknown }
    assert.deepEqual([response.status, typeof detail], [500, 'string'])
    assert.match(log.join(), /errors\.translate cannot translate "[^]*It returned .*\. Return a string, or undefined/)
  }
})
