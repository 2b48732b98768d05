// Needs a process of its own: a package that is loaded is not missed.
import assert from 'node:assert/strict'
import Module from 'node:module'
import { test } from 'node:test'
import { Body, Controller, Field, Get, Post, Query } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { bootMessage } from '../support/api.js'

class Inner {
  @Field() name!: string
}

class Upload {
  @File() file!: UploadedFile
}

class Nested {
  @Field() inner!: Inner
}

class NoFields {}

function routeWith(decorate: (prototype: object) => void, type: unknown, method = Post) {
  @Controller('/')
  class Uploads {
    @method('/', { params: [type] } as never) create(_form: unknown) {}
  }
  decorate(Uploads.prototype)
  return [Uploads]
}

const at = (decorator: ParameterDecorator) => (prototype: object) => decorator(prototype, 'create', 0)

const wrong: readonly (readonly [what: string, message: () => string, expected: RegExp])[] = [
  [
    'a file in a JSON body',
    () => bootMessage(routeWith(at(Body() as ParameterDecorator), Upload)),
    /Upload\.file is a file, which only a multipart form has\. Receive a class with @File\(\) properties by @Multipart\(\) of 'sequitur\/uploads'/,
  ],
  [
    'a file in a form that is not multipart',
    () => bootMessage(routeWith(at(Body({ form: true }) as ParameterDecorator), Upload)),
    /only a multipart form has/,
  ],
  [
    'a file in the query',
    () => bootMessage(routeWith(at(Query() as ParameterDecorator), Upload)),
    /only a multipart form has/,
  ],
  [
    'a file as the body',
    () => bootMessage(routeWith(() => {}, UploadedFile)),
    /its type is a file, which only a multipart/,
  ],
  [
    'a class in a class',
    () => bootMessage(routeWith(at(Multipart()), Nested)),
    /Nested\.inner: a Inner cannot be sent in a multipart form\. Put its properties into the class/,
  ],
  ['a type without fields', () => bootMessage(routeWith(at(Multipart()), NoFields)), /NoFields has no fields/],
  [
    'a string',
    () => bootMessage(routeWith(at(Multipart()), String)),
    /write a class with @Field\(\) or @File\(\) properties as the type of @Multipart\(\)/,
  ],
  ['a GET route', () => bootMessage(routeWith(at(Multipart()), Upload, Get as never)), /a GET request has no body/],
  [
    'a form that may be missing',
    () => bootMessage([Optional]),
    /a body of @Multipart\(\) is always present\. Remove the '\?' or the default/,
  ],
  [
    'a response with a file',
    () => bootMessage([Answering]),
    /Answering\.get, its response, Upload\.file has a file, which JSON does not have/,
  ],
]

@Controller('/')
class Optional {
  @Post('/') create(@Multipart() _form: Upload = new Upload()) {}
}

@Controller('/')
class Answering {
  @Get('/', [Upload]) get(): Upload[] {
    return []
  }
}

for (const [what, message, expected] of wrong) {
  test(`${what} does not start`, () => assert.match(message(), expected))
}

test('wrong options do not start', () => {
  const field = (options: object) => () => File(options)({ constructor: Upload } as Record<string, unknown>, 'file')
  assert.throws(field({ maxsize: 1 }), /@File\(\) on Upload\.file.*maxsize.*maxSize/s)
  assert.throws(field({ maxSize: '5 MB' }), /maxSize is '5 MB'.*5_000_000/s)
  assert.throws(field({ mediaTypes: 'image/png' }), /mediaTypes/)
  assert.throws(field({ mediaTypes: ['png'] }), /mediaTypes has 'png'.*'image\/png', or 'image\/\*'/)
  assert.throws(field({ mediaTypes: [] }), /mediaTypes is empty/)
  assert.throws(() => at(Multipart({ bodylimit: 1 } as never))(Upload.prototype), /bodylimit.*bodyLimit/s)
  assert.throws(() => at(Multipart({ bodyLimit: 0 }))(Upload.prototype), /bodyLimit is 0/)
  assert.throws(() => (File as (target: object, name: string) => void)(Upload.prototype, 'file'), /@File\(\)/)
})

test('without @fastify/busboy, the message says what to install', (t) => {
  type Load = (name: string, ...others: unknown[]) => unknown
  const modules = Module as unknown as { _load: Load }
  const load = modules._load
  t.mock.method(modules, '_load', (name: string, ...others: unknown[]) => {
    if (name === '@fastify/busboy') throw new Error(`Cannot find module '${name}'`)
    return load(name, ...others)
  })
  assert.match(
    bootMessage(routeWith(at(Multipart()), Upload)),
    /@Multipart|multipart forms are parsed by the package @fastify\/busboy, which cannot be loaded\. Install it: npm install @fastify\/busboy/,
  )
})

test('the compiler compares @File() with the type of its property', () => {
  const declare = () => {
    class Wrong {
      // @ts-expect-error: not a file
      @File() text!: string
      // @ts-expect-error: it may be missing
      @File({ optional: true }) missing!: UploadedFile
      @File({ optional: true }) optional?: UploadedFile
      @File() list!: UploadedFile[]
    }
    return Wrong
  }
  assert.match(bootMessage(routeWith(at(Multipart()), declare())), /its type is string, but it is declared as 'file'/)
})
