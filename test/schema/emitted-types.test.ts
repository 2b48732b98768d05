import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Body, Controller, Field, Get, Path, Post, Query } from 'sequitur'
import { z } from 'zod'
import { bootMessage } from '../support/api.js'
import type { Constructor } from '../../src/di/token.js'

/*
 * The types that the compiler emits are compared with the declared ones, also where the program was never checked by the compiler.
 */

// Without their types: the compiler refuses these programs as well.
type Unchecked = (...options: unknown[]) => PropertyDecorator & ParameterDecorator
const unchecked = (decorator: unknown) => decorator as Unchecked
const [AnyField, AnyQuery, AnyBody, AnyPath] = [Field, Query, Body, Path].map(unchecked) as [
  Unchecked,
  Unchecked,
  Unchecked,
  Unchecked,
]

class Tag {
  @Field() label!: string
}

class Field0 {
  @AnyField({ type: 'integer' }) value!: string
}
class Field1 {
  @AnyField({ type: 'string' }) value!: number
}
class Field2 {
  @AnyField({ type: 'boolean' }) value!: Date
}
class Field3 {
  @AnyField({ type: [String] }) value!: string
}
class Field4 {
  @AnyField({ type: 'string' }) value!: string[]
}
class Field6 {
  @AnyField({ type: Tag }) value!: string
}
class Field7 {
  @AnyField({ type: 'string' }) value!: Tag
}
class Field8 {
  @AnyField({ type: z.int() }) value!: string
}

const fields: readonly (readonly [type: Constructor, message: string])[] = [
  [Field0, `Field0.value: its type is string, but it is declared as 'integer', whose values are of type number. `],
  [Field1, `Field1.value: its type is number, but it is declared as 'string', whose values are of type string. `],
  [Field2, `Field2.value: its type is Date, but it is declared as 'boolean', whose values are of type boolean. `],
  [Field3, `Field3.value: its type is string, but it is declared as a list, whose values are of type a list. `],
  [Field4, `Field4.value: its type is a list, but it is declared as 'string', whose values are of type string. `],
  [Field6, `Field6.value: its type is string, but it is declared as Tag, whose values are of type object. `],
  [Field7, `Field7.value: its type is Tag, but it is declared as 'string', whose values are of type string. `],
  [
    Field8,
    `Field8.value: its type is string, but it is declared as a schema of zod, whose values are of type number. `,
  ],
]

for (const [type, message] of fields) {
  test(`at startup: ${message}`, () => {
    class Responses {
      get() {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Responses.prototype, 'get') as TypedPropertyDescriptor<never>
    Get('/', type, { params: [] } as never)(Responses.prototype, 'get', descriptor)
    Controller()(Responses)
    assert.ok(bootMessage([Responses]).includes(message), bootMessage([Responses]))
  })
}

@Controller()
class Parameters {
  @Get('/a') size(@AnyQuery({ type: 'bigint' }) size: string) {
    return size
  }
}
@Controller()
class Bodies {
  @Post() post(@AnyBody({ type: z.object({ a: z.string() }) }) body: number) {
    return body
  }
}
@Controller()
class Paths {
  @Get('/:id') get(@AnyPath({ type: 'date-time' }) id: string) {
    return id
  }
}

class Sizes {
  @Field({ type: 'bigint' }) size!: string
}
@Controller()
class SizeBody {
  @Post() post(body: Sizes) {
    return body.size
  }
}
@Controller()
class SizeResponse {
  @Get('/', Sizes) get() {
    return { size: '1' }
  }
}

const mistakes: readonly (readonly [controller: Constructor, message: RegExp])[] = [
  [
    Parameters,
    /Parameters\.size, parameter 1 'size': its type is string, but it is declared as 'bigint', whose values are of type bigint\. Write that type, or declare another one\./,
  ],
  [Bodies, /'body': its type is number, but it is declared as a schema of zod, whose values are of type object/],
  [Paths, /'id': its type is string, but it is declared as 'date-time', whose values are of type Date/],
  [SizeBody, /SizeBody\.post, parameter 1 'body', Sizes\.size: its type is string, but it is declared as 'bigint'/],
]

for (const [controller, message] of mistakes) {
  test(`${controller.name} fails at startup, as the emitted type is not the declared one`, () => {
    assert.match(bootMessage([controller]), message)
  })
}

test('a class of responses may have a BIGINT as a string', () => {
  assert.equal(bootMessage([SizeResponse]), 'it started')
})
