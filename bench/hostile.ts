// What a hostile request costs the server: documents of 1 MiB, the default limit of a body, each made to be as expensive as it can be.
//   node --conditions=sequitur-source --import tsx --import sequitur/register bench/hostile.ts [rounds] [part of a name]
// The app is a process of its own, so that its CPU is what is counted: of all of its threads, collecting garbage included.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { Column, DataType, Table } from 'sequelize-typescript'
import { z } from 'zod'
import { Base, Body, Controller, createApp, dto, Field, Get, Post } from 'sequitur'

const BYTES = 1024 * 1024
const LIMIT = 100

class Tag {
  @Field() name!: string
}

class Tree {
  @Field({ type: 'integer', optional: true }) value?: number
  @Field({ type: () => Tree, nullable: true, optional: true }) next?: Tree | null
  @Field({ type: [() => Tree], optional: true }) children?: Tree[]
}

class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
  @Field({ optional: true }) name?: string
}

class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
  @Field({ optional: true }) name?: string
}

/** A pattern that takes time with the square of a text's length, which is bounded. */
class Slug {
  @Field({ maxLength: 250, pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ }) s!: string
}

class Texts {
  @Field({ optional: true }) plain?: string
  @Field({ optional: true, maxLength: 200 }) short?: string
  @Field({ optional: true, format: 'url' }) url?: string
  @Field({ optional: true, format: 'url', maxLength: 200 }) shortUrl?: string
  @Field({ optional: true, format: 'uri' }) uri?: string
  @Field({ optional: true, format: 'email' }) email?: string
  @Field({ optional: true, format: 'regex' }) regex?: string
  @Field({ optional: true, format: 'uri-template' }) template?: string
  @Field({ optional: true, pattern: /^[a-z]+(?:-[a-z]+)*$/ }) slug?: string
  @Field({ optional: true, type: 'bigint' }) bigint?: bigint
  @Field({ optional: true, type: 'decimal' }) decimal?: string
  @Field({ optional: true, type: 'bytes' }) bytes?: Buffer
  @Field({ optional: true, type: 'date-time' }) time?: Date
  @Field({ optional: true, type: 'number' }) number?: number
}

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.TEXT, validate: { isEmail: true } }) declare email: string
  @Column({ type: DataType.TEXT, validate: { isUrl: true } }) declare url: string
  @Column({ type: DataType.TEXT, validate: { isByteLength: [1, 9] } }) declare bytes: string
  @Column({ type: DataType.TSVECTOR }) declare words: string
  @Column({ type: DataType.BIGINT }) declare big: string
}

class NewNote extends dto(Note, { partial: true }) {}

const choices = Array.from({ length: 5000 }, (_, index) => `choice ${index}`)

@Controller('/')
class Hostile {
  @Post('any') any(@Body({ type: 'any' }) body: unknown) {
    return typeof body
  }
  @Post('texts') texts(body: Texts) {
    return typeof body
  }
  @Post('tags') tags(@Body({ type: [Tag] }) body: Tag[]) {
    return body.length
  }
  @Post('tree') tree(body: Tree) {
    return typeof body
  }
  @Post('pets') pets(@Body({ oneOf: [Cat, Dog], discriminator: 'kind', type: Array }) body: (Cat | Dog)[]) {
    return body.length
  }
  @Post('integers') integers(@Body({ type: ['integer'] }) body: number[]) {
    return body.length
  }
  @Post('strings') strings(@Body({ type: [String] }) body: string[]) {
    return body.length
  }
  @Post('choices') choices(@Body({ enum: choices, type: [String] }) body: string[]) {
    return body.length
  }
  @Post('times') times(@Body({ type: ['date-time'] }) body: Date[]) {
    return body.length
  }
  @Post('bigints') bigints(@Body({ type: ['bigint'] }) body: bigint[]) {
    return body.length
  }
  @Post('slugs') slugs(@Body({ type: [Slug] }) body: Slug[]) {
    return body.length
  }
  @Post('note') note(body: NewNote) {
    return typeof body
  }
  @Post('zod') zod(@Body({ type: z.array(z.object({ name: z.string() })) }) body: unknown) {
    return typeof body
  }
  @Post('zods') zods(@Body({ type: [z.string()] }) body: unknown[]) {
    return body.length
  }
  @Get('cpu') cpu() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

/** As often as it fits into what is left of the body. */
function filled(before: string, unit: string, after: string, bytes = BYTES): string {
  return before + unit.repeat(Math.floor((bytes - before.length - after.length) / Buffer.byteLength(unit))) + after
}

function listed(unit: string, last = unit, bytes = BYTES): string {
  return filled('[', `${unit},`, `${last}]`, bytes)
}

function numbered(count: number, made: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => made(index)).join()
}

/** As many as a body of 1 MiB may have. */
const [LISTS, NAMES] = [BYTES / 8, Math.floor(BYTES / 100)]

function times(count: number, unit: string): string {
  return `[${Array(count).fill(unit).join()}]`
}

const nest = '['.repeat(98) + ']'.repeat(98)

/** By name: where to, and what. */
const documents: Readonly<Record<string, readonly [path: string, body: string]>> = {
  'nothing but a text': ['any', filled('"', 'a', '"')],
  'a number of a million digits': ['any', filled('', '7', '')],
  'a fraction of a million digits': ['any', filled('0.', '7', '')],
  'numbers of 199 digits': ['any', listed('7'.repeat(199))],
  'numbers of 307 digits': ['any', listed('7'.repeat(307))],
  'numbers of 17 digits': ['any', listed('90071992547409930')],
  'numbers beyond the largest': ['any', listed('1e999')],
  'numbers beside the smallest': ['any', listed('2.2250738585072011e-308')],
  'an exponent of a million digits': ['any', filled('1e', '0', '9')],
  'minus nothing': ['any', listed('-0')],
  'one U+0000 beside half a million numbers': ['any', listed('1', '"\\u0000"')],
  'U+0000 in each of many texts': ['any', listed('"\\u0000"')],
  'halves of surrogate pairs': ['any', filled('"', '\\ud800', '"')],
  escapes: ['any', filled('"', '\\u0041', '"')],
  'U+0000 in a key of half a million characters, over 100 texts': [
    'any',
    `{"${'a'.repeat(BYTES / 2)}":${listed('"\\u0000"', undefined, 1000)}}`,
  ],
  'lists in lists': ['any', listed(nest)],
  'lists in lists, and a constructor': ['any', listed(nest, '{"constructor":1}')],
  'empty lists': ['any', listed('[]')],
  'empty objects': ['any', listed('{}')],
  'small objects': ['any', listed('{"a":1}')],
  'objects, each of a key of its own': ['any', `[${numbered(62_000, (index) => `{"k${index}":1}`)}]`],
  'one object of 90,000 keys': ['any', `{${numbered(90_000, (index) => `"k${index}":1`)}}`],
  'as many lists as there may be': ['any', times(LISTS - 1, '[]')],
  'as many objects as there may be': ['any', times(LISTS - 1, '{"a":1}')],
  'lists in lists, as many as there may be': ['any', times(Math.floor((LISTS - 1) / 98), nest)],
  'as many names as there may be': ['any', `[${numbered(NAMES, (index) => `{"k${index}":1}`)}]`],
  'as many names as there may be, ten times': [
    'any',
    times(10, `{${numbered(NAMES, (index) => `"${index.toString(36)}":1`)}}`),
  ],
  'different texts': ['any', `[${numbered(130_000, (index) => `"${index.toString(36)}"`)}]`],
  'one object of 75,000 numbers as keys': ['any', `{${numbered(70_000, (index) => `"${index * 50_000}":1`)}}`],
  'one key 100,000 times': ['any', filled('{', '"aaaa":1,', '"a":1}')],
  '__proto__ 60,000 times': ['any', filled('{', '"__proto__":{},', '"a":1}')],
  constructors: ['any', listed('{"constructor":{}}')],
  'empty texts': ['any', listed('""')],
  falsehoods: ['any', listed('false')],
  'a hundred thousand unknown fields': ['texts', `{${numbered(90_000, (index) => `"k${index}":1`)}}`],
  'a text that is too long': ['texts', filled('{"short":"', 'é', '"}')],
  'a text for a pattern': ['texts', filled('{"slug":"', 'a-', '"}')],
  url: ['texts', filled('{"url":"http://', ':', '"}', 60_000)],
  'url of at most 200 characters': ['texts', filled('{"shortUrl":"http://', ':', '"}', 60_000)],
  'url of a name with marks': ['texts', filled('{"url":"http://a', '\u0301\u0323', '"}')],
  'url of 1 MiB': ['texts', filled('{"url":"http://a/', 'é', '"}')],
  uri: ['texts', filled('{"uri":"ftp://', 'a', '["}')],
  email: ['texts', filled('{"email":"a@', 'a-', '"}')],
  regex: ['texts', filled('{"regex":"', '(?<a>', '"}')],
  'uri-template': ['texts', filled('{"template":"', '{a,', '"}')],
  'bigint of a million digits': ['texts', filled('{"bigint":"', '7', '"}')],
  'decimal of a million digits': ['texts', filled('{"decimal":"', '7', '"}')],
  base64: ['texts', filled('{"bytes":"', 'AAAA', '"}')],
  'base64 that ends otherwise': ['texts', filled('{"bytes":"', 'AAAA', '!"}')],
  'a second of a million digits': ['texts', filled('{"time":"2026-01-31T12:00:00.', '7', 'Z"}')],
  'objects of a class': ['tags', listed('{"name":""}')],
  'objects of a class without what it wants': ['tags', listed('{}')],
  'objects of a class without what it wants, 9,900 of them': ['tags', times(9_900, '{}')],
  'numbers for objects, 9,900 of them': ['tags', times(9_900, '1')],
  'a tree, deep': ['tree', filled('{"value":1', ' ', `${',"next":{"value":1'.repeat(97)}${'}'.repeat(97)}}`)],
  'a tree, wide': ['tree', filled('{"children":[', '{},', '{}]}')],
  'as many objects of a tree as there may be': ['tree', `{"children":${times(LISTS - 2, '{}')}}`],
  'a tree, deep and wide': [
    'tree',
    filled('{"children":[', `${'{"children":['.repeat(40)}{}${']}'.repeat(40)},`, '{}]}'),
  ],
  'a tree of faults, 9,900 of them': [
    'tree',
    filled('{"children":[', `${'{"children":['.repeat(40)}{"value":""}${']}'.repeat(40)},`, '{}]}', 64_000),
  ],
  pets: ['pets', listed('{"kind":"dog"}')],
  'pets of no kind, 9,900 of them': ['pets', times(9_900, '{}')],
  integers: ['integers', listed('1')],
  'texts for integers, 9,900 of them': ['integers', times(9_900, '""')],
  'numbers for strings': ['strings', listed('1')],
  'the last of 5,000 choices': ['choices', listed('"choice 4999"')],
  'none of 5,000 choices, 9,900 of them': ['choices', times(9_900, '""')],
  times: ['times', listed('"2026-01-31T12:00:00Z"')],
  'bigints of one digit': ['bigints', listed('"1"')],
  'bigints of 4,000 digits': ['bigints', listed(`"${'7'.repeat(4000)}"`)],
  'an e-mail address in a TEXT column': ['note', filled('{"email":"a@', 'a.', '"}')],
  'a URL in a TEXT column': ['note', filled('{"url":"http://', 'a-', '"}')],
  'bytes of a TEXT column': ['note', filled('{"bytes":"', 'é', '"}')],
  'words in a TSVECTOR column': ['note', filled('{"words":"', 'a ', ':"}')],
  'digits in a BIGINT column': ['note', filled('{"big":"', '7', '"}')],
  'objects of a text for a pattern': ['slugs', listed(`{"s":"a@${'.'.repeat(240)} "}`)],
  'objects of a text that fits a pattern': ['slugs', listed(`{"s":"a@${'.'.repeat(240)}"}`)],
  'objects for zod': ['zod', listed('{"name":""}')],
  'faults for zod': ['zod', times(LISTS - 2, '{}')],
  'faults for many schemas of zod': ['zods', listed('1')],
  'texts for many schemas of zod': ['zods', listed('""')],
}

if (process.argv[2] === 'serve') {
  const app = createApp({ controllers: [Hostile], logger: false })
  const { port } = (await app.listen(0)) as unknown as { port: number }
  process.send?.(port)
  process.on('disconnect', () => void app.close())
} else await measure(Number(process.argv[2] ?? 5), process.argv[3] ?? '')

interface Answer {
  readonly status: number
  readonly text: string
}

async function measure(rounds: number, part: string): Promise<void> {
  const [, script = ''] = process.argv
  const server = spawn(process.execPath, [...process.execArgv, script, 'serve'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [port] = (await once(server, 'message')) as [number]
  const send = (method: string, path: string, body?: string) => ask(port, method, path, body)
  const cpu = async () => Number((await send('GET', 'cpu')).text)
  for (const [name, [path, body]] of Object.entries(documents)) {
    if (!name.includes(part)) continue
    const spent: number[] = []
    let answer: Answer = { status: 0, text: '' }
    for (let round = 0; round < rounds; round++) {
      const before = await cpu()
      answer = await send('POST', path, body)
      spent.push((await cpu()) - before)
    }
    const median = spent.toSorted((a, b) => a - b)[spent.length >> 1] as number
    const most = Math.max(...spent)
    const mark = median > LIMIT ? ' <--' : ''
    console.log(
      `${median.toFixed(0).padStart(6)} ms CPU, at most ${most.toFixed(0).padStart(5)}   ${answer.status}   ${String(answer.text.length).padStart(7)} sent   ${name}${mark}`,
    )
  }
  server.disconnect()
}

function ask(port: number, method: string, path: string, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request({ port, host: '127.0.0.1', method, path: `/${path}`, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
