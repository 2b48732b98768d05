import type { Check } from '../../schema/shape/check.js'
import type { ObjectShape, Property, Shape } from '../../schema/shape/shape.js'

/**
 * A range of PostgreSQL as Sequelize reads and writes it: `[{ value: 1, inclusive: true }, { value: 5, inclusive: false }]`. The value is null
 * if the range is unbounded on that side; an empty range is `[]`.
 */
export function rangeShape(bound: Shape): Shape {
  const list = { kind: 'array', items: boundShape(exactBound(bound)), maxItems: 2 } as const
  return {
    ...list,
    openApiExtra: { not: { type: 'array', minItems: 1, maxItems: 1 } },
    customValidation: { base: list, checks: [TWO_BOUNDS] },
  }
}

const TWO_BOUNDS: Check = {
  accepts: (json) => !Array.isArray(json) || json.length !== 1,
  message: 'must have a lower and an upper bound, or none for an empty range',
}

// Sequelize cannot write a bigint as a bound, and PostgreSQL's numrange has no precision.
function exactBound(bound: Shape): Shape {
  switch (bound.kind) {
    case 'bigint':
      return { kind: 'decimal', digits: { whole: 19, fraction: 0 } }
    case 'decimal':
      return { kind: 'decimal' }
    default:
      return bound
  }
}

function boundShape(bound: Shape): ObjectShape {
  const properties = new Map<string, Property>([
    ['value', { shape: { ...bound, nullable: true }, optional: false }],
    ['inclusive', { shape: { kind: 'boolean' }, optional: false }],
  ])
  return {
    kind: 'object',
    name: 'Bound',
    origin: properties,
    anonymous: true,
    properties: () => properties,
    read: readBound,
  }
}

// PostgreSQL's 'infinity' in a range of times; it means the same as no bound.
function readBound(bound: { value?: unknown }): object {
  return bound.value === Infinity || bound.value === -Infinity ? { ...bound, value: null } : bound
}
