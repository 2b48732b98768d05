import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AppOptions,
  Base,
  Controller,
  Delete,
  dto,
  Get,
  Item,
  notFound,
  Patch,
  Put,
  Session,
  sql,
  UncountedPage,
} from 'sequitur'
import { BootError } from 'sequitur/errors'
import { IfMatch, newIfMatch } from 'sequitur/conditional'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, sqliteMemory, statements } from '../support/databases.js'

@Table({ tableName: 'hero', timestamps: false, version: true })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'plain', timestamps: false })
class Plain extends Base<Plain> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: CreationOptional<number>
}

class Changes extends dto(Hero, { pick: ['name'] }) {}
class MayMatch extends newIfMatch({ required: false }) {}

@Controller('/heroes')
class HeroController {
  @Get('/:id', Item.of(Hero, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound() }
  }

  @Patch('/:id', Item.of(Hero, { etag: true }))
  async change(id: number, changes: Changes, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Hero, id, changes)) ?? notFound('There is no such hero.') }
  }

  @Delete('/:id')
  async remove(id: number, ifMatch: IfMatch) {
    await ifMatch.delete(Hero, id)
  }

  @Put('/:id', Item.of(Hero))
  async put(id: number, { name }: Changes, ifMatch: MayMatch) {
    const known = await ifMatch.get(Hero, id)
    return { data: known ? await known.update({ name }) : await Hero.create({ id, name }) }
  }

  @Patch('/:id/ignored')
  async ignored(id: number, { name }: Changes, _ifMatch: IfMatch) {
    await Hero.update({ name }, { where: { id } })
  }

  @Patch('/:id/own')
  async own(id: number, { name }: Changes, ifMatch: IfMatch, session: Session) {
    await session.execute(
      sql`UPDATE hero SET name = ${name}, version = version + 1 WHERE id = ${id} AND version = ${ifMatch.version ?? -1}`,
    )
  }

  @Patch('/:id/plain')
  async plain(id: number, ifMatch: IfMatch) {
    await ifMatch.get(Plain, id)
  }
}

async function start(t: Parameters<typeof databaseApp>[0], options: Partial<Omit<AppOptions, 'lifespan'>> = {}) {
  const api = await databaseApp(t, sqliteMemory, [Hero, Plain], [HeroController], options)
  await Hero.create({ id: 1, name: 'Robin' })
  await Plain.create({ id: 1 })
  api.log.length = 0
  const send = async (method: string, path: string, tag?: string, name = 'changed') => {
    const headers = tag === undefined ? {} : { 'if-match': tag }
    const response = await api.fetch(path, { method, headers, ...(method === 'DELETE' ? {} : { json: { name } }) })
    return { status: response.status, etag: response.headers.get('etag'), text: await response.text() }
  }
  const nameOf = async () => (await Hero.findByPk(1))?.name
  const tagOf = async () => (await api.fetch('/heroes/1')).headers.get('etag') ?? ''
  return { ...api, send, nameOf, tagOf }
}

test('without If-Match it is a 428, and nothing is read', async (t) => {
  const { send, log, nameOf } = await start(t)
  const { status, text } = await send('PATCH', '/heroes/1')
  assert.equal(status, 428)
  assert.match(text, /Send the header If-Match/)
  assert.deepEqual(statements(log), [])
  assert.equal(await nameOf(), 'Robin')
})

test('a stale If-Match is a 412 with the present ETag, and nothing is changed', async (t) => {
  const { send, nameOf, tagOf } = await start(t)
  const old = await tagOf()
  const { etag: present } = await send('PATCH', '/heroes/1', old, 'first')
  assert.match(String(present), /^"1-/)
  for (const method of ['PATCH', 'PUT', 'DELETE']) {
    const { status, etag } = await send(method, '/heroes/1', old, 'second')
    assert.match(`${status} ${etag} ${await nameOf()}`, /^412 "1-\S+ first$/)
  }
  assert.equal((await send('DELETE', '/heroes/1', present ?? '')).status, 204)
})

test('the version is in the WHERE of the UPDATE', async (t) => {
  const { send, log, tagOf } = await start(t)
  await send('PATCH', '/heroes/1', await tagOf())
  const update = statements(log).find((statement) => statement.startsWith('UPDATE'))
  assert.match(update ?? '', /WHERE `id` = \$\d AND `version` = \$\d/)
})

test('a row that does not exist is a 404 if the handler says so, and never created or a success under a condition', async (t) => {
  const { send, tagOf } = await start(t)
  const tag = await tagOf()
  assert.equal((await send('PATCH', '/heroes/2', tag)).status, 404)
  assert.equal((await send('DELETE', '/heroes/2', tag)).status, 412)
  for (const sent of [tag, '*']) assert.equal((await send('PUT', '/heroes/2', sent)).status, 412)
  assert.equal(await Hero.findByPk(2), null)
  assert.equal((await send('PUT', '/heroes/2')).status, 200)
})

test('with If-None-Match a PUT only creates', async (t) => {
  const { fetch, nameOf, tagOf } = await start(t)
  const put = async (id: number, tag: string) => {
    const headers = { 'if-none-match': tag }
    const response = await fetch(`/heroes/${id}`, { method: 'PUT', headers, json: { name: 'created' } })
    return [response.status, response.headers.get('etag')?.slice(0, 3)]
  }
  const tag = await tagOf()
  for (const known of ['*', tag, `W/${tag}`, `"x", ${tag}`]) assert.deepEqual(await put(1, known), [412, '"0-'])
  assert.equal(await nameOf(), 'Robin')
  assert.deepEqual(await put(2, '*'), [200, undefined])
  assert.deepEqual(await put(2, '*'), [412, '"0-'])
  assert.equal((await put(1, '"other"'))[0], 200)
})

test('any of several tags, `*`, and a tag with a digest match; weak tags, other versions and what is no tag do not', async (t) => {
  const { send, nameOf, tagOf } = await start(t)
  const tag = await tagOf()
  const wrong = [
    `W/${tag}`,
    '"0"',
    '"0-anything"',
    `${tag.slice(0, -2)}"`,
    `"1${tag.slice(2)}`,
    tag.replace(/-\w+-/, `-${'z'.repeat(250)}-`),
    tag.slice(0, -1),
    '0',
    '""',
    ' ',
    '"*"',
    '*, "5"',
  ]
  for (const sent of wrong) assert.deepEqual([(await send('PATCH', '/heroes/1', sent)).status, sent], [412, sent])
  assert.equal(await nameOf(), 'Robin')
  for (const sentOf of [
    (own: string) => `"x", ${own}`,
    () => '*',
    (own: string) => `${own.slice(0, -1)}-${'d'.repeat(22)}"`,
    (own: string) => ` ${own} `,
  ]) {
    const sent = sentOf(await tagOf())
    const { status } = await send('PATCH', '/heroes/1', sent, `by ${sent}`)
    assert.deepEqual([status, await nameOf()], [200, `by ${sent}`])
  }
})

test('no value of the headers is a 5xx, or changes the row unless it has the tag', async (t) => {
  const { fetch, send, nameOf } = await start(t)
  const parts = ['"', '0', 'W/', ',', ' ', '*', '-', '\\', 'é', '"0', '0"', '\t', '""', 'w/', "'", '%', '1e9', ';']
  let seed = 7
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below
  for (let round = 0; round < 400; round++) {
    const header = Array.from({ length: next(7) }, () => parts[next(parts.length)]).join('')
    if (/(?<!\/)"0["-]|^\s*\*\s*$/.test(header)) continue
    const { status } = await send('PATCH', '/heroes/1', header)
    assert.equal(status, 412, JSON.stringify(header))
    const read = await fetch('/heroes/1', { headers: { 'if-none-match': header } })
    assert.ok([200, 304].includes(read.status), JSON.stringify(header))
    await read.text()
  }
  assert.equal(await nameOf(), 'Robin')
})

test('a handler that ignores the condition is a 500, and rolled back', async (t) => {
  const { send, log, nameOf } = await start(t)
  assert.equal((await send('PATCH', '/heroes/1/ignored', '"0"')).status, 500)
  assert.equal(await nameOf(), 'Robin')
  assert.match(log.join('\n'), /has succeeded without using it/)
})

test('the handler may take the version itself', async (t) => {
  const { send, nameOf } = await start(t)
  assert.equal((await send('PATCH', '/heroes/1/own', '"7"')).status, 204)
  assert.equal(await nameOf(), 'Robin')
  assert.equal((await send('PATCH', '/heroes/1/own', '"0-digest"')).status, 204)
  assert.equal(await nameOf(), 'changed')
})

test('a model without a version is a 500, whose log entry says what to write', async (t) => {
  const { send, log } = await start(t)
  assert.equal((await send('PATCH', '/heroes/1/plain', '"0"')).status, 500)
  assert.match(log.join('\n'), /Plain has no version. Write @Table\(\{ version: true \}\)/)
})

test('OpenAPI documents the headers, 304, 412 and 428', async (t) => {
  const { fetch } = await start(t)
  const { paths } = JSON.parse(await (await fetch('/openapi.json')).text())
  const { get, patch, put } = paths['/heroes/{id}']
  const namesOf = ({ parameters }: { readonly parameters: readonly { readonly name: string }[] }) =>
    parameters.map(({ name }) => name)
  assert.deepEqual(namesOf(get), ['id', 'if-none-match'])
  assert.ok(get.responses['304'].headers.ETag)
  assert.ok(get.responses['200'].headers.ETag)
  assert.deepEqual(namesOf(patch).toSorted(), ['id', 'if-match'])
  // Required where its absence is a 428, so that generated clients ask for it.
  const isRequired = ({ parameters }: { readonly parameters: readonly { name: string; required: boolean }[] }) =>
    parameters.find(({ name }) => name === 'if-match')?.required
  assert.deepEqual([isRequired(patch), isRequired(put)], [true, false])
  assert.ok(patch.responses['412'] && patch.responses['428'] && patch.responses['200'].headers.ETag)
  assert.ok(patch.responses['412'].headers.ETag && !patch.responses['428'].headers)
  assert.ok(put.responses['412'] && !put.responses['428'])
})

test('wrong options fail where they are written', () => {
  // @ts-expect-error: no boolean
  assert.throws(() => Item.of(Hero, { etag: 'weak' }), BootError)
  // @ts-expect-error: unknown
  assert.throws(() => UncountedPage.of(Hero, { eTag: true }), BootError)
  // @ts-expect-error: no boolean
  assert.throws(() => newIfMatch({ required: 'yes' }), BootError)
})
