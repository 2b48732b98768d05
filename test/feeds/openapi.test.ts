import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { HeroController } from './programs.js'

test('a route that follows events documents the header with the last id, and the class of its events', () => {
  const { paths, components } = createApp({
    controllers: [HeroController],
    lifespan: memoryDatabase(),
    logger: false,
  }).openapi()
  const { parameters, responses } = paths?.['/heroes/events']?.get ?? {}
  const header = parameters?.find((one) => 'in' in one && one.in === 'header')
  assert.ok(header && 'name' in header)
  assert.deepEqual([header.name, header.required ?? false, header.schema], ['last-event-id', false, { type: 'string' }])
  const schema = { $ref: '#/components/schemas/HeroSaved' }
  const ok: unknown = responses?.['200']
  assert.deepEqual(Reflect.get(Object(ok), 'content'), { 'text/event-stream': { schema, 'x-event-data': schema } })
  assert.ok(components?.schemas?.['HeroSaved'])
})
