import { isRecord } from '../../core/records.js'
import type { Check } from '../../schema/shape/check.js'
import type { JsonSchema, ObjectShape, Property, Shape } from '../../schema/shape/shape.js'
import { isIP } from 'node:net'

/** How many arrays a position is nested in, by GeoJSON type: 2 for a Polygon, [[[0, 0], [1, 0], ...]]. */
const DEPTHS: ReadonlyMap<string, number> = new Map([
  ['Point', 0],
  ['LineString', 1],
  ['MultiPoint', 1],
  ['Polygon', 2],
  ['MultiLineString', 2],
  ['MultiPolygon', 3],
])

/**
 * GeoJSON with two coordinates per position, of one geometry type if the column has one. Invalid GeoJSON must be rejected here: for a third
 * coordinate or an open ring, databases store NULL without an error.
 *
 * @param name the geometry type of the column, such as 'POINT'; undefined for any.
 */
export function geometryShape(name: string | undefined): Shape {
  const known = ALL.filter((type) => type.toUpperCase() === name?.toUpperCase())
  const types = known.length > 0 ? known : ALL
  const schemas = types.map(schemaOf)
  const [only] = schemas
  const base = { kind: 'any', object: true } as const
  return {
    ...base,
    openApiSchema: only !== undefined && schemas.length === 1 ? only : { type: 'object', oneOf: schemas },
    customValidation: { base, checks: [checkOf(types)] },
  }
}

const COLLECTION = 'GeometryCollection'
const ALL: readonly string[] = [...DEPTHS.keys(), COLLECTION]

function checkOf(types: readonly string[]): Check {
  const rings = types.some(hasRings) ? ' and closed rings' : ''
  return {
    accepts: (json) => !isRecord(json) || types.some((type) => isOfType(json, type)),
    message: `must be GeoJSON${types === ALL ? '' : ` of a ${types.join()}`} with positions [x, y]${rings}`,
  }
}

function schemaOf(type: string): JsonSchema {
  const depth = DEPTHS.get(type)
  const [name, schema] =
    depth === undefined
      ? ['geometries', { type: 'array', items: { type: 'object' } }]
      : ['coordinates', coordinatesOf(type, depth)]
  return {
    type: 'object',
    properties: { type: { type: 'string', enum: [type] }, [name]: schema },
    required: ['type', name],
  }
}

function coordinatesOf(type: string, depth: number): JsonSchema {
  if (depth === 0) return { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }
  return { type: 'array', items: coordinatesOf(type, depth - 1), minItems: depth === 1 ? minPositions(type) : 1 }
}

// The least number of positions in one array of them: in a line, in a ring.
function minPositions(type: string): number {
  return hasRings(type) ? 4 : type === 'MultiPoint' ? 1 : 2
}

function hasRings(type: string): boolean {
  return type.endsWith('Polygon')
}

function isOfType({ type: given, coordinates, geometries }: Readonly<Record<string, unknown>>, type: string): boolean {
  if (given !== type) return false
  const depth = DEPTHS.get(type)
  if (depth !== undefined) return areCoordinates(coordinates, type, depth)
  return (
    Array.isArray(geometries) && geometries.every((one) => isRecord(one) && ALL.some((each) => isOfType(one, each)))
  )
}

function areCoordinates(value: unknown, type: string, depth: number): boolean {
  if (!Array.isArray(value)) return false
  if (depth === 0) return value.length === 2 && value.every((part) => typeof part === 'number')
  if (!value.every((item) => areCoordinates(item, type, depth - 1))) return false
  if (depth > 1) return value.length > 0
  return value.length >= minPositions(type) && (!hasRings(type) || String(value[0]) === String(value.at(-1)))
}

const BASE = { kind: 'string' } as const
const WITH_MASK = '^[0-9A-Fa-f:.]+/[0-9]{1,3}$'

/** An IP address, optionally with the mask of its network: '10.0.0.1', '10.0.0.1/8', '::1'. */
export const INET: Shape = {
  ...BASE,
  openApiSchema: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }, { pattern: WITH_MASK }] },
  customValidation: {
    base: BASE,
    checks: [stringCheck(isAddress, 'must be an IP address, such as 10.0.0.1, 10.0.0.1/8 or ::1')],
  },
}

/** An IP network: '10.0.0.0/8'. */
export const CIDR: Shape = {
  ...BASE,
  openApiSchema: { type: 'string', pattern: WITH_MASK },
  customValidation: {
    base: BASE,
    checks: [stringCheck((text) => text.includes('/') && isAddress(text), 'must be a network, such as 10.0.0.0/8')],
  },
}

const SIX_PAIRS = /^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})$/

/** A MAC address, with colons or hyphens. PostgreSQL returns it with colons. */
export const MACADDR: Shape = {
  ...BASE,
  pattern: SIX_PAIRS.source,
  customValidation: {
    base: BASE,
    checks: [stringCheck((text) => SIX_PAIRS.test(text), 'must be a MAC address, such as 08:00:2b:01:02:03')],
  },
}

function isAddress(text: string): boolean {
  const [address = '', mask, ...rest] = text.split('/')
  const version = address.includes('%') ? 0 : isIP(address) // PostgreSQL accepts no zone, as in 'fe80::1%eth0'
  const isMask = mask === undefined || (/^\d{1,3}$/.test(mask) && Number(mask) <= (version === 4 ? 32 : 128))
  return version > 0 && isMask && rest.length === 0
}

function stringCheck(accepts: (text: string) => boolean, message: string): Check {
  return { accepts: (json) => typeof json !== 'string' || accepts(json), message }
}

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
