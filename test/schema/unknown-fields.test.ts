import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, createApp, dto, Field, oneOf, Post, UnknownFields } from 'sequitur'
import { api, bootMessage } from '../support/api.js'

class Team {
  @Field() city!: string
}
class Hero {
  @Field() name!: string
  @Field({ optional: true }) team?: Team
}
@UnknownFields('ignore')
class Open {
  @Field() name!: string
  @Field({ optional: true }) team?: Team
}
class Patched extends dto(Hero, { pick: ['name'], partial: true }) {}
class Inherited extends Open {
  @Field({ optional: true }) more?: string
}
@UnknownFields('refuse')
class Closed extends Inherited {}
class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
}
class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
}
const Pet = oneOf([Cat, Dog], { discriminator: 'kind' })

@Controller('/')
class Bodies {
  @Post('/hero', Hero) hero(body: Hero) {
    return body
  }
  @Post('/open', Open) open(body: Open) {
    return body
  }
  @Post('/patched', Patched) patched(body: Patched) {
    return body
  }
  @Post('/inherited', Inherited) inherited(body: Inherited) {
    return body
  }
  @Post('/closed', Closed) closed(body: Closed) {
    return body
  }
  @Post('/list', [Hero]) list(@Body({ type: [Hero] }) body: Hero[]) {
    return body
  }
  @Post('/pet', Pet) pet(@Body({ type: Pet }) body: Cat | Dog) {
    return body
  }
}

const UNKNOWN = { name: 'Robin', admin: true, constructor: 1 }
const POSTS: readonly (readonly [path: string, body: unknown, sent: unknown, isOpen: boolean])[] = [
  ['/hero', UNKNOWN, { name: 'Robin' }, false],
  ['/hero', { name: 'Robin', team: { city: 'Gotham', x: 1 } }, { name: 'Robin', team: { city: 'Gotham' } }, false],
  ['/open', UNKNOWN, { name: 'Robin' }, true],
  ['/open', { name: 'Robin', team: { city: 'Gotham', x: 1 } }, { name: 'Robin', team: { city: 'Gotham' } }, false],
  ['/patched', { x: 1 }, {}, false],
  ['/inherited', UNKNOWN, { name: 'Robin' }, true],
  ['/list', [UNKNOWN], [{ name: 'Robin' }], false],
  ['/pet', { kind: 'dog', x: 1 }, { kind: 'dog' }, false],
]

for (const unknownFields of ['refuse', 'ignore', undefined] as const)
  test(`unknownFields: ${unknownFields}: what a class does not declare is a 422, or is ignored, and never reaches the handler`, async (t) => {
    const { fetch } = await api(t, [Bodies], unknownFields ? { unknownFields } : {})
    for (const [path, json, sent, isOpen] of POSTS) {
      const response = await fetch(path, { method: 'POST', json })
      const body = (await response.json()) as { errors?: { message: string }[] }
      if (isOpen || unknownFields === 'ignore') assert.deepEqual([response.status, body], [201, sent], path)
      else assert.deepEqual([response.status, body.errors?.at(-1)?.message], [422, 'is not a known field'], path)
    }
    const closed = await fetch('/closed', { method: 'POST', json: UNKNOWN })
    assert.equal(closed.status, 422)
    // Without the property that decides which class it is.
    assert.equal((await fetch('/pet', { method: 'POST', json: { x: 1 } })).status, 422)
  })

test('the document says whether other properties are allowed', () => {
  const open = (unknownFields: 'refuse' | 'ignore') => {
    const { components } = createApp({ controllers: [Bodies], unknownFields, logger: false }).openapi()
    return Object.entries(components?.schemas ?? {})
      .filter(([name, schema]) => !['Problem', 'InputIssue'].includes(name) && 'properties' in schema)
      .flatMap(([name, schema]) => ('additionalProperties' in schema ? [] : [name]))
      .toSorted()
  }
  assert.deepEqual(open('refuse'), ['Inherited', 'Open'])
  assert.deepEqual(open('ignore'), ['Cat', 'Dog', 'Hero', 'Inherited', 'Open', 'Patched', 'Team'])
})

test('another rule stops the start', () => {
  assert.match(bootMessage([Bodies], { unknownFields: 'strip' as never }), /unknownFields is 'strip'\. Write 'refuse'/)
  assert.throws(() => UnknownFields('strip' as never)(Hero), /@UnknownFields\(\) on Hero: the rule is 'strip'/)
})
