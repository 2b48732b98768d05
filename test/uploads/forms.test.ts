import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import {
  Controller,
  Field,
  file,
  Header,
  HttpError,
  Injectable,
  Post,
  Security,
  Session,
  Transactional,
  unauthorized,
  UnknownFields,
} from 'sequitur'
import { DatabaseError } from 'sequelize'
import { memoryDatabase } from 'sequitur/testing'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { api } from '../support/api.js'
import { formOf, noTemporaryFiles, rawForm, sendForm, temporaryFiles } from '../support/uploads.js'

class NewPhoto {
  @Field({ minLength: 1 }) title!: string
  @Field({ type: 'integer', default: 7 }) age!: number
  @Field({ type: [String], optional: true }) tags?: string[]
  @File({ maxSize: 3_000_000, mediaTypes: ['image/png', 'text/*'], optional: true }) photo?: UploadedFile
  @File({ optional: true, maxItems: 2 }) details?: UploadedFile[]
}

@UnknownFields('ignore')
class Lenient {
  @Field() photo!: UploadedFile
}

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function described(form: UploadedFile) {
  const { name, type, size } = form
  return { name, type, size, hash: hashOf(await form.bytes()) }
}

let kept: UploadedFile | undefined

@Controller('/')
class Photos {
  @Post('/photos') async create(@Multipart() form: NewPhoto) {
    assert.ok(form instanceof NewPhoto)
    const { photo, details, ...texts } = form
    kept = photo
    return {
      ...texts,
      ...(photo ? { photo: await described(photo) } : {}),
      ...(details ? { details: await Promise.all(details.map(described)) } : {}),
    }
  }
  @Post('/lenient') async lenient(@Multipart() { photo }: Lenient) {
    return described(photo)
  }
  @Post('/echo', { produces: 'application/octet-stream' }) async echo(@Multipart() { photo }: Lenient) {
    return file(photo.stream())
  }
  @Post('/failing') failing(@Multipart() _form: Lenient) {
    assert.equal(temporaryFiles().length, 2)
    throw new HttpError(418)
  }
}

const large = randomBytes(2_000_000)

test('text fields and files arrive as the class declares them', async (t) => {
  const app = await api(t, [Photos])
  const parts = formOf(
    ['title', 'Ä "title"'],
    ['age', '18'],
    ['tags', 'a'],
    ['tags', ''],
    ['photo', 'abc', 'ä "b".png', 'image/png'],
    ['details', 'd', 'd'],
  )
  assert.deepEqual((await sendForm(app, '/photos', parts)).json, {
    title: 'Ä "title"',
    age: 18,
    tags: ['a', ''],
    photo: { name: 'ä "b".png', type: 'image/png', size: 3, hash: hashOf(Buffer.from('abc')) },
    details: [{ name: 'd', type: 'application/octet-stream', size: 1, hash: hashOf(Buffer.from('d')) }],
  })
})

test('what is not sent is missing, or has its default', async (t) => {
  const app = await api(t, [Photos])
  assert.deepEqual((await sendForm(app, '/photos', formOf(['title', 'a']))).json, { title: 'a', age: 7 })
})

test('a file field of a browser in which no file was chosen is not sent', async (t) => {
  const app = await api(t, [Photos])
  const unchosen = 'Content-Disposition: form-data; name="photo"; filename=""\r\nContent-Type: application/octet-stream'
  const title = 'Content-Disposition: form-data; name="title"'
  const { status, json } = await sendForm(app, '/lenient', rawForm([unchosen, '']))
  assert.deepEqual([status, json.errors], [422, [{ in: 'body', path: '/photo', message: 'is required' }]])
  assert.deepEqual((await sendForm(app, '/photos', rawForm([title, 'a'], [unchosen, '']))).json, { title: 'a', age: 7 })
})

for (const size of [0, 1, 65_535, 262_144, 262_145, 2_000_000]) {
  test(`a file of ${size} bytes arrives unchanged, and leaves no temporary file`, async (t) => {
    const app = await api(t, [Photos], { bodyLimit: 1000 })
    const bytes = large.subarray(0, size)
    const { json } = await sendForm(app, '/photos', formOf(['title', 'a'], ['photo', bytes, 'a', 'image/png']))
    assert.deepEqual([json.photo.size, json.photo.hash], [size, hashOf(bytes)])
    await noTemporaryFiles()
    assert.throws(() => kept?.stream(), /The request is over/)
  })
}

test('a temporary file is readable only by its owner, and is there until it is sent', async (t) => {
  let modes: number[] = []
  @Controller('/modes')
  class Modes {
    @Post('/', { status: 204 }) read(@Multipart() _form: Lenient) {
      const paths = temporaryFiles()
      const folder = join(tmpdir(), paths[0] ?? '')
      modes = [folder, join(folder, paths[1] ?? '')].map((path) => statSync(path).mode & 0o777)
    }
  }
  const app = await api(t, [Photos, Modes], { bodyLimit: 3_000_000 })
  await sendForm(app, '/modes', formOf(['photo', large.subarray(0, 1_000_000), 'a']))
  assert.deepEqual(modes, [0o700, 0o600])
  const sent = large.subarray(0, 1_000_000)
  const response = await app.fetch('/echo', { method: 'POST', body: formOf(['photo', sent, 'a']) })
  assert.equal(hashOf(new Uint8Array(await response.arrayBuffer())), hashOf(sent))
  await noTemporaryFiles()
})

test('the temporary files of a handler that throws are removed', async (t) => {
  const app = await api(t, [Photos])
  const { status } = await sendForm(app, '/failing', formOf(['photo', large.subarray(0, 500_000), 'a']))
  assert.equal(status, 418)
  await noTemporaryFiles()
})

const names: readonly (readonly [disposition: string, name: string])[] = [
  ['filename="../../etc/passwd"', 'passwd'],
  ['filename="C:\\Users\\me\\photo.png"', 'photo.png'],
  ['filename="a%22b\\"c"', 'a"b"c'],
  ['filename=plain.txt', 'plain.txt'],
  ['filename="a\u0000b\tc"', 'abc'],
  [`filename="${'x'.repeat(300)}.png"`, `${'x'.repeat(251)}.png`],
  [`filename*=UTF-8''na%C3%AFve.txt`, 'naïve.txt'],
  ['filename=".."', ''],
  ['filename="\\u202egnp.exe"'.replace('\\u202e', Buffer.from('\u202e').toString('latin1')), 'gnp.exe'],
]

for (const [disposition, name] of names) {
  test(`the name of a file sent as ${JSON.stringify(disposition.slice(0, 40))} is ${JSON.stringify(name.slice(-20))}`, async (t) => {
    const app = await api(t, [Photos])
    const form = rawForm([`Content-Disposition: form-data; name="photo"; ${disposition}`, 'abc'])
    assert.equal((await sendForm(app, '/lenient', Buffer.from(form, 'latin1'))).json.name, name)
  })
}

test('files that the class does not declare are a 422, or ignored with unknownFields; unknown texts are ignored', async (t) => {
  const app = await api(t, [Photos])
  const photo = ['photo', 'abc', 'a'] as const
  const others = ['__proto__', 'constructor', 'toString', 'a/b'] as const
  const files = formOf(photo, ...others.map((name) => [name, 'x', 'x'] as const))
  const { errors = [] } = await sendForm(app, '/photos', files)
  const unknown = errors.filter(({ message }) => message === 'is not a known field')
  assert.deepEqual(unknown.map(({ path }) => path).sort(), ['/__proto__', '/a~1b', '/constructor', '/toString'])
  assert.equal((await sendForm(app, '/lenient', files)).status, 201)
  const texts = formOf(['title', 'a'], ...others.map((name) => [name, 'x'] as const))
  assert.deepEqual((await sendForm(app, '/photos', texts)).json, { title: 'a', age: 7 })
  assert.equal(({} as { x?: unknown }).x, undefined)
})

const invalid: readonly (readonly [what: string, form: FormData, path: string, message: string])[] = [
  ['a text for a file', formOf(['title', 'a'], ['photo', 'text']), '/photo', 'must be a file'],
  ['a file for a text', formOf(['title', 'a', 'a']), '/title', 'must be text, not a file'],
  ['an empty title', formOf(['title', '']), '/title', 'must not be empty'],
  [
    'two files for one',
    formOf(['title', 'a'], ['photo', 'a', 'a', 'image/png'], ['photo', 'a', 'a', 'image/png']),
    '/photo',
    'must be a file',
  ],
  [
    'another media type',
    formOf(['title', 'a'], ['photo', 'a', 'a', 'application/pdf']),
    '/photo',
    'must be of type image/png or text/*',
  ],
  [
    'three files of two',
    formOf(['title', 'a'], ['details', 'a', 'a'], ['details', 'a', 'a'], ['details', 'a', 'a']),
    '/details',
    'must NOT have more than 2 items',
  ],
  ['a word for a number', formOf(['title', 'a'], ['age', 'old']), '/age', 'must be an integer'],
]

for (const [what, form, path, message] of invalid) {
  test(`${what} is a 422`, async (t) => {
    const app = await api(t, [Photos])
    const { status, errors } = await sendForm(app, '/photos', form)
    assert.deepEqual([status, errors], [422, [{ in: 'body', path, message }]])
    await noTemporaryFiles()
  })
}

test('other media types are a 415', async (t) => {
  const app = await api(t, [Photos])
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=X'])
    assert.equal((await sendForm(app, '/photos', '{}', type)).status, 415, type)
})

test('a list that @Field() declares has at most ten files', async (t) => {
  class Album {
    @Field({ type: [UploadedFile] }) photos!: UploadedFile[]
  }
  @Controller('/albums')
  class Albums {
    @Post('/') async create(@Multipart() { photos }: Album) {
      return Promise.all(photos.map(async (photo) => (await photo.bytes()).toString()))
    }
  }
  const app = await api(t, [Albums])
  const photos = (count: number) => formOf(...Array.from({ length: count }, (_, i) => ['photos', `${i}`, 'a'] as const))
  assert.deepEqual((await sendForm(app, '/albums', photos(10))).json, [...'0123456789'])
  const { status, errors } = await sendForm(app, '/albums', photos(11))
  assert.deepEqual([status, errors?.[0]?.message], [422, 'must NOT have more than 10 items'])
})

test('app.inject() sends a form as bytes', async (t) => {
  const { app } = await api(t, [Photos])
  const payload = Buffer.from(rawForm(['Content-Disposition: form-data; name="title"', 'a']))
  const headers = { 'content-type': 'multipart/form-data; boundary="X"' }
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/photos', headers, payload })
  assert.deepEqual([statusCode, JSON.parse(body)], [201, { title: 'a', age: 7 }])
})

test('saveTo() writes a new file, replaces one only when told to, and follows no link to one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'saved-'))
  const codes: unknown[] = []
  @Controller('/save')
  class Saving {
    @Post('/', { status: 204 }) async save(@Multipart() { photo }: Lenient) {
      await photo.saveTo(join(folder, 'new'))
      await photo.saveTo(pathToFileURL(join(folder, 'old')), { overwrite: true })
      for (const name of ['new', 'link', 'missing/folder'])
        await photo.saveTo(join(folder, name)).catch((error: NodeJS.ErrnoException) => codes.push(error.code))
    }
  }
  writeFileSync(join(folder, 'old'), 'x'.repeat(10_000_000))
  symlinkSync(join(folder, 'target'), join(folder, 'link'))
  const app = await api(t, [Saving])
  for (const size of [10, 600_000]) {
    codes.length = 0
    const { status } = await sendForm(app, '/save', formOf(['photo', large.subarray(0, size), 'a']))
    assert.equal(status, size === 10 ? 204 : 500) // EEXIST is an error of the program
    if (size === 10) assert.deepEqual(codes, ['EEXIST', 'EEXIST', 'ENOENT'])
  }
  assert.deepEqual(readdirSync(folder).sort(), ['link', 'new', 'old'])
  assert.deepEqual(readFileSync(join(folder, 'old')), large.subarray(0, 10))
})

test('each attempt of a transaction reads the same file', async (t) => {
  const sizes: number[] = []
  @Controller('/retried')
  class Retried {
    @Transactional({ retry: 2 })
    @Post('/', { status: 204 })
    async run(@Multipart() { photo }: Lenient, _session: Session) {
      sizes.push((await photo.bytes()).fill(0).length)
      if (sizes.length < 3) throw new DatabaseError(Object.assign(new Error('busy'), { code: 'SQLITE_BUSY', sql: '' }))
    }
  }
  const app = await api(t, [Retried], { lifespan: memoryDatabase() })
  const { status } = await sendForm(app, '/retried', formOf(['photo', large.subarray(0, 400_000), 'a']))
  assert.deepEqual([status, sizes], [204, [400_000, 400_000, 400_000]])
})

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class User {
  constructor(@Header({ optional: true }) authorization: string = '') {
    if (authorization !== 'Bearer me') unauthorized('Who are you?')
  }
}

@Controller('/own')
class OwnPhotos {
  @Post('/') async create(_user: User, @Multipart() { photo }: Lenient) {
    return described(photo)
  }
}

test('a client that is not authenticated gets a 401, and its files are removed', async (t) => {
  const app = await api(t, [OwnPhotos])
  const body = formOf(['photo', large.subarray(0, 500_000), 'a'])
  const statusFor = async (authorization: string, form: FormData) =>
    (await app.fetch('/own', { method: 'POST', body: form, headers: { authorization } })).status
  assert.equal(await statusFor('Bearer other', body), 401)
  assert.equal(await statusFor('Bearer other', formOf(['photo', 'text'])), 401)
  await noTemporaryFiles()
  assert.equal(await statusFor('Bearer me', formOf(['photo', 'text'])), 422)
  assert.equal(await statusFor('Bearer me', body), 201)
  await noTemporaryFiles()
})

test('OpenAPI documents the form, its files and their media types', async (t) => {
  const { app } = await api(t, [Photos])
  const document = app.openapi()
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  assert.ok(valid, JSON.stringify(errors))
  assert.deepEqual(document.paths?.['/photos']?.post?.requestBody, {
    required: true,
    content: {
      'multipart/form-data': {
        schema: { $ref: '#/components/schemas/NewPhoto' },
        encoding: { photo: { contentType: 'image/png, text/*' } },
      },
    },
  })
  const schema = document.components?.schemas?.['NewPhoto'] as { properties: Record<string, unknown> }
  const { photo, details } = schema.properties
  assert.deepEqual(photo, { type: 'string', format: 'binary', maxLength: 3_000_000 })
  assert.deepEqual(details, {
    type: 'array',
    items: { type: 'string', format: 'binary', maxLength: 1_048_576 },
    maxItems: 2,
  })
})
