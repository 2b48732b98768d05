import type { Model, ModelStatic } from 'sequelize'
import { dataTypeInternals } from '../../src/db/sequelize/internals.js'

/**
 * A row of a model, with a value in every column but for keys that the database chooses. All numbers are 1 and all texts 'a', so that foreign keys refer
 * to the first rows of the other tables.
 */
export function rowOf(model: ModelStatic<Model>): Record<string, unknown> {
  const attributes = Object.entries(model.getAttributes()).filter(([, { autoIncrement }]) => autoIncrement !== true)
  return Object.fromEntries(attributes.map(([name, { type }]) => [name, valueOf(type)]))
}

function valueOf(given: unknown): unknown {
  const type = dataTypeInternals(given)
  const values = type.key === undefined ? RAW.get(String(given).toLowerCase()) : VALUES[type.key]
  if (values === undefined && type.values) return type.values[0]
  if (type.key === 'ARRAY') return [valueOf(type.type)]
  if (type.key === 'DECIMAL') return (1).toFixed(type._scale ?? 0)
  if (type.key === 'CHAR' && type._length) return type._length === 1 ? 'a' : 'a'.padEnd(type._length)
  return values
}

const VALUES: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(['TINYINT', 'SMALLINT', 'MEDIUMINT', 'INTEGER'].map((key) => [key, 1])),
  ...Object.fromEntries(['FLOAT', 'REAL', 'DOUBLE PRECISION'].map((key) => [key, 1])),
  ...Object.fromEntries(['STRING', 'TEXT', 'CITEXT', 'CHAR'].map((key) => [key, 'a'])),
  BIGINT: '1',
  BOOLEAN: true,
  DATE: new Date('2022-05-01T12:00:00.000Z'),
  DATEONLY: '2022-05-01',
  TIME: '12:00:00',
  UUID: '6f1ed002-ab5b-4e3d-9a5f-2d6a6f0e9c11',
  JSON: { a: 1 },
  JSONB: { a: 1 },
  BLOB: Buffer.from('a'),
  TSVECTOR: "'a':1",
  GEOMETRY: { type: 'Point', coordinates: [1, 2] },
}

const RAW: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['year', 2000],
  ['bpchar', 'a'],
  ["set('trailers','commentaries','deleted scenes','behind the scenes')", 'Trailers'],
])
