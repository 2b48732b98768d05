import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Get, lifespan, newLifespan, provide } from 'sequitur'
import { bootMessage } from '../support/api.js'

@Controller()
class Door {
  @Get('/') open() {}
}
class Clock {}
const clock = provide(Clock, { value: new Clock() })
const cors = (_request: unknown, _response: unknown, next: () => void) => next()

const notLoaded = /^is undefined\. Either its name is misspelt, or .* two files import each other: move what both need/

/** Options, the place in them that the message names, and the message. */
const mistakes: readonly (readonly [options: object, where: string, message: RegExp])[] = [
  [{ controllers: undefined }, 'controllers', /^is missing\. Write controllers: \[HeroController\]\.$/],
  [{ controllers: Door }, 'controllers', /^takes a list, got the class Door\. Write \[HeroController\]\.$/],
  [{ controllers: [Door, undefined] }, 'controllers[1]', notLoaded],
  // oxlint-disable-next-line no-sparse-arrays
  [{ controllers: [, Door] }, 'controllers[0]', notLoaded],
  [{ controllers: [Door, Door] }, 'controllers[1]', /^and controllers\[0\] are both Door\. Remove one of them\.$/],
  [{ controllers: [new Door()] }, 'controllers[0]', /^is an instance of Door\. Write the class itself/],
  [{ controllers: [() => Door] }, 'controllers[0]', /^is the function \(anonymous\)\. Write the class itself/],
  [{ controllers: ['Door'] }, 'controllers[0]', /^is 'Door'\. Write the class itself, as in \[HeroController\]\.$/],
  [{ models: Clock }, 'models', /^takes a list, got the class Clock\. Write \[Hero\]\.$/],
  [{ models: [Clock, undefined] }, 'models[1]', notLoaded],
  [{ models: [new Clock()] }, 'models[0]', /^is an instance of Clock\. Write the class itself, as in \[Hero\]\.$/],
  [{ providers: clock }, 'providers', /^takes a list, got an object with token, provider\. Write \[provide\(/],
  [{ providers: [clock, undefined] }, 'providers[1]', notLoaded],
  [
    { providers: [Clock] },
    'providers[0]',
    /^is the class Clock\. Put @Injectable\(\) on it.*provide\(Clock, \{ class: Clock \}\)/,
  ],
  [
    { providers: [{ provide: Clock, useValue: 1 }] },
    'providers[0]',
    /^is an object with provide, useValue\. Write provide\(/,
  ],
  [{ middleware: cors }, 'middleware', /^takes a list, got the function cors\. Write \[helmet\(\)\]\.$/],
  [{ middleware: [cors, undefined] }, 'middleware[1]', notLoaded],
  [
    { middleware: [{ cors }] },
    'middleware[0]',
    /^is an object with cors\. Write a function \(request, response, next\).* or \{ path: '\/admin', use: guard \}\.$/,
  ],
  [{ middleware: [[cors]] }, 'middleware[0]', /^is a list\. Write a function \(request, response, next\)/],
  [{ middleware: [{ pth: '/a', use: cors }] }, 'middleware[0]', /^has no option 'pth'\. Did you mean 'path'\?$/],
  [{ lifespan: newLifespan }, 'lifespan', /^is the function newLifespan\. Write lifespan, .* or newLifespan\(url\)\.$/],
  [{ lifespan: [lifespan, undefined] }, 'lifespan[1]', /^is undefined\. Write lifespan/],
  [{ lifespan: 'postgres://a:secret@b/c' }, 'lifespan', /^is a string\. Write lifespan/],
  [{ logger: true }, 'logger', /^is true, without info\(\), warn\(\), error\(\)\. Write logger: console, or false/],
  [{ logger: { info() {}, error() {} } }, 'logger', /^is an object with info, error, without warn\(\)\./],
  [{ docs: 'no' }, 'docs', /^is of type string\. Write true or false\.$/],
  [{ cursorSecret: null }, 'cursorSecret', /^is of type null\. Write a random string\.$/],
  [{ timeouts: 1000 }, 'timeouts', /^takes options such as \{ headers: \.\.\. \}, got 1000\.$/],
]

for (const [options, where, message] of mistakes) {
  test(`createApp(): ${where} that ${message.source.slice(1, 40)} fails at startup`, () => {
    const text = bootMessage([Door], options)
    const start = `BootError: createApp(): ${where} `
    assert.ok(text.startsWith(start), text)
    assert.match(text.slice(start.length), message)
  })
}

const scopes: readonly (readonly [entry: object, message: RegExp])[] = [
  [{ use: cors }, /: path is undefined\. Write the path that it runs for, such as '\/admin'\.$/],
  [{ path: /admin/, use: cors }, /: path is an instance of RegExp\. Write the path/],
  [{ path: '/admin/*', use: cors }, /: '\*' in the path '\/admin\/\*' is not a segment\./],
  [{ path: '/%61dmin', use: cors }, /: '%61dmin' .* compared decoded\. Write it decoded/],
  [{ path: '/admin/..', use: cors }, /: '\.\.' in the path '\/admin\/\.\.' would never match/],
  [{ path: '/admin' }, /: use is missing\. Write the middleware of the path: \{ path: '\/admin', use: guard \}\.$/],
  [{ path: '/admin', use: undefined }, /: use is undefined\. Either its name is misspelt/],
  [{ path: '/admin', use: [cors] }, /: use is a list\. Write a function \(request, response, next\)/],
]

for (const [entry, message] of scopes) {
  test(`middleware for a path that ${message.source.slice(2, 40)} fails at startup`, () => {
    const text = bootMessage([Door], { middleware: [entry as never] })
    assert.ok(text.startsWith('BootError: createApp(): middleware[0]'), text)
    assert.match(text, message)
  })
}

for (const value of ['1mb', '1000', NaN, -1, 1.5, Infinity, null, 1n]) {
  for (const [options, where] of [
    [{ bodyLimit: value }, 'bodyLimit'],
    [{ maxConnections: value }, 'maxConnections'],
    ...['headers', 'request', 'handler', 'write', 'keepAlive', 'drain'].map(
      (name) => [{ timeouts: { [name]: value } }, `timeouts.${name}`] as const,
    ),
  ] as const) {
    test(`createApp(): ${where} of ${typeof value} ${value} fails at startup`, () => {
      assert.match(
        bootMessage([Door], options as never),
        new RegExp(
          `createApp\\(\\): ${where} is '?${value}[n']?\\. Write a whole number of (bytes|milliseconds|connections), as in .* from [01] to \\d+\\.`,
        ),
      )
    })
  }
}

test('a timeout beyond what a timer takes, which would be over at once, fails at startup', () => {
  const most = 2 ** 31 - 1
  assert.equal(bootMessage([Door], { timeouts: { handler: most } }), 'it started')
  assert.match(bootMessage([Door], { timeouts: { handler: most + 1 } }), /from 1 to 2147483647/)
})

test('no wait at all at the end, and a body of one byte, are sizes', () => {
  assert.equal(bootMessage([Door], { timeouts: { drain: 0 }, bodyLimit: 1 }), 'it started')
})

for (const [options, where] of [
  [{ maxConnections: 0 }, 'maxConnections'],
  [{ timeouts: { write: 0 } }, 'timeouts.write'],
] as const) {
  test(`createApp(): ${where} of 0 fails at startup`, () => {
    assert.match(bootMessage([Door], options), new RegExp(`${where} is 0\\. Write a whole number of .* from 1 to`))
  })
}

test('createApp() without options has a message with what it takes', () => {
  const make = createApp as (options?: unknown) => unknown
  for (const options of [undefined, null, 'heros'])
    assert.throws(() => make(options), {
      name: 'BootError',
      message: /^createApp\(\) takes options such as \{ controllers: \.\.\. \}, got /,
    })
})
