import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import * as z from 'zod'
import { SchemaChecker } from '../../src/schema/json-schema/checker.js'
import { SchemaWriter } from '../../src/schema/json-schema/writer.js'
import type { Direction, ObjectShape, Property, Shape } from '../../src/schema/shape/shape.js'

/*
 * At startup the OpenAPI document is checked without being written: what the writer would refuse is refused, with the same message.
 */

const LEAVES: readonly Shape[] = [
  { kind: 'integer' },
  { kind: 'string', maxLength: 5, nullable: true },
  { kind: 'date-time' },
  { kind: 'standard', schema: z.string() },
  { kind: 'standard', schema: z.object({ a: z.string() }).meta({ id: 'A' }) },
  {
    kind: 'standard',
    schema: z.object({
      get next() {
        return z.object({ b: z.int() }).meta({ id: 'BOutput' })
      },
    }),
  },
  { kind: 'standard', schema: z.string().transform(Number) },
  { kind: 'standard', schema: z.custom<string>() },
  { kind: 'any', openApiSchema: { $ref: '#/elsewhere' } },
  { kind: 'any', openApiSchema: { $ref: '#/$defs/C', $defs: { C: { type: 'string' } } } },
  { kind: 'any', openApiSchema: { type: 'object' }, openApiExtra: { not: {} } },
]

interface PropertyPlan extends Pick<Property, 'optional'> {
  readonly target: number
  readonly list: boolean
  readonly flags: Partial<Property>
}

const propertyPlan: fc.Arbitrary<PropertyPlan> = fc.record({
  target: fc.nat(20),
  list: fc.boolean(),
  optional: fc.boolean(),
  flags: fc.constantFrom<Partial<Property>>({}, {}, { readOnly: true }, { writeOnly: true }, { generated: true }),
})

const classPlan = fc.record({
  name: fc.constantFrom('A', 'B', 'C', 'AInput', 'AOutput', 'BOutput', 'Ä', '_'),
  union: fc.option(fc.tuple(fc.nat(20), fc.nat(20)), { nil: undefined, freq: 5 }),
  properties: fc.array(propertyPlan, { maxLength: 4 }),
})

/** Shapes that refer to each other, and to some that are no classes. */
const programs = fc.record({
  classes: fc.array(classPlan, { minLength: 1, maxLength: 5 }),
  uses: fc.array(fc.tuple(fc.nat(20), fc.constantFrom<Direction>('input', 'output')), { minLength: 1, maxLength: 6 }),
})

type Program = typeof programs extends fc.Arbitrary<infer P> ? P : never

function shapesOf({ classes, uses }: Program): readonly (readonly [Shape, Direction])[] {
  const objects = classes.map((plan): ObjectShape => ({
    kind: 'object',
    name: plan.name,
    origin: plan,
    properties: () => new Map(plan.properties.map((property, index) => [`p${index}`, propertyOf(property)])),
  }))
  const objectAt = (index: number) => objects[index % objects.length] as ObjectShape
  const all: readonly Shape[] = [
    ...objects,
    ...classes.flatMap(({ name, union }): Shape[] =>
      union
        ? [
            {
              kind: 'union',
              discriminator: 'p0',
              named: { name, origin: union },
              options: () => new Map(union.map((index, tag) => [tag, objectAt(index)])),
            },
          ]
        : [],
    ),
    ...LEAVES,
  ]
  const shapeAt = (index: number) => all[index % all.length] as Shape
  const propertyOf = ({ target, list, optional, flags }: PropertyPlan): Property => ({
    shape: list ? { kind: 'array', items: shapeAt(target) } : shapeAt(target),
    optional,
    ...flags,
  })
  return uses.map(([index, direction]) => [shapeAt(index), direction])
}

function messageOf(run: () => unknown): string | undefined {
  try {
    return void run()
  } catch (error) {
    return String(error)
  }
}

test('a checked schema is refused if and only if it cannot be written, with the same message', () => {
  const refused = new Set<string>()
  fc.assert(
    fc.property(programs, (program) => {
      const [writer, checker] = [new SchemaWriter(), new SchemaChecker()]
      for (const [shape, direction] of shapesOf(program)) {
        const expected = messageOf(() => writer.write(shape, direction))
        assert.equal(
          messageOf(() => checker.check(shape, direction)),
          expected,
        )
        if (expected !== undefined)
          return void refused.add(/are named|no JSON Schema|refers to/.exec(expected)?.[0] ?? '')
      }
      assert.deepEqual([...checker.names.keys()], [...writer.components.keys()])
    }),
    { numRuns: 2000 },
  )
  assert.deepEqual([...refused].sort(), ['are named', 'no JSON Schema', 'refers to'])
})
