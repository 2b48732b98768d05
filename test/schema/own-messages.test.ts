import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, dto, Field, Get, oneOf, Post, Query } from 'sequitur'
import { api, bootMessage } from '../support/api.js'

class Tag {
  @Field({ minLength: 2, pattern: '^[a-z]+$', message: 'must be a word' }) 'a/b'!: string
}
class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
  @Field({ type: 'integer', message: 'must be its number of lives' }) lives!: number
}
class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
}
class Hero {
  @Field({ minLength: 3, maxLength: 9, pattern: '^[A-Z]', message: 'must be the name of a hero' }) name!: string
  @Field({ type: 'integer', minimum: 0 }) age!: number
  @Field({ type: [Tag], maxItems: 2, optional: true, message: 'must be two tags' }) tags?: Tag[]
  @Field({ type: ['integer'], optional: true, message: 'must be sizes' }) sizes?: number[]
  @Field({ type: oneOf([Cat, Dog], { discriminator: 'kind' }), optional: true }) pet?: Cat | Dog
}
class Named extends dto(Hero, { pick: ['name'] }) {}

@Controller('/')
class Heroes {
  @Post() create(_hero: Hero) {}
  @Post('/named') named(_hero: Named) {}
  @Get() find(@Query({ type: 'integer', message: 'must be an age' }) age: number) {
    return age
  }
}

const name = 'must be the name of a hero'
const CASES: readonly (readonly [path: string, json: unknown, issues: Readonly<Record<string, string>>])[] = [
  ['/', { name: 'x', age: -1 }, { '/name': name, '/age': 'must be >= 0' }],
  ['/', { age: 1 }, { '/name': name }],
  ['/', { name: 7, age: 1, more: 1 }, { '/name': name, '/more': 'is not a known field' }],
  [
    '/',
    { name: 'Robin', age: 1, tags: [{}, { 'a/b': 'A' }, {}] },
    {
      '/tags': 'must be two tags',
      '/tags/0/a~1b': 'must be a word',
      '/tags/1/a~1b': 'must be a word',
      '/tags/2/a~1b': 'must be a word',
    },
  ],
  ['/', { name: 'Robin', age: 1, sizes: [1, 'x'] }, { '/sizes/1': 'must be sizes' }],
  ['/', { name: 'Robin', age: 1, pet: { kind: 'cat' } }, { '/pet/lives': 'must be its number of lives' }],
  ['/named', {}, { '/name': name }],
]

test('a property has one message of its own for all that can be wrong with it', async (t) => {
  const { fetch } = await api(t, [Heroes])
  for (const [path, json, expected] of CASES) {
    const response = await fetch(path, { method: 'POST', json })
    const { errors } = (await response.json()) as { errors: { path: string; message: string }[] }
    assert.equal(response.status, 422)
    assert.equal(errors.length, Object.keys(expected).length)
    assert.deepEqual(Object.fromEntries(errors.map((one) => [one.path, one.message])), expected)
  }
  const { errors } = (await (await fetch('/?age=x')).json()) as { errors: unknown }
  assert.deepEqual(errors, [{ in: 'query', path: '/age', message: 'must be an age' }])
})

test('a message that is none stops the start', () => {
  class Wrong {
    @Field({ message: 1 as never }) name!: string
  }
  @Controller('/')
  class Wrongs {
    @Post() create(_wrong: Wrong) {}
  }
  assert.match(bootMessage([Wrongs]), /Wrong\.name: message is of type number\. Write a sentence/)
})
