import type { Attributes, FindOptions, Model, ModelStatic, WhereOptions } from 'sequelize'

/** Identifies a row: the value of its primary key, or for a composite key an object with a value for each column. */
export type Key<M extends Model> =
  | string
  | number
  | bigint
  | Date
  | Buffer
  | { readonly [K in keyof Attributes<M>]?: Attributes<M>[K] }

/**
 * Reads a row by its primary key through Sequelize.
 *
 * @throws TypeError for an object that does not have exactly the columns of the primary key.
 */
export function findByKey<M extends Model>(
  model: ModelStatic<M>,
  key: Key<M>,
  options: Omit<FindOptions<Attributes<M>>, 'where'> | undefined,
): Promise<M | null> {
  if (isScalar(key)) return model.findByPk(key, options)
  if (!(key instanceof Date)) requireKey(model, key)
  const where = key instanceof Date ? { [model.primaryKeyAttribute]: key } : key
  // TypeScript does not know the attributes of a model that is a type parameter.
  return model.findOne({ ...options, where: where as WhereOptions<Attributes<M>> })
}

// No row has the key null, which programs in JavaScript may pass: findByPk() resolves to null then. It refuses a list of a client.
function isScalar(key: unknown): key is string | number | bigint | Buffer {
  return typeof key !== 'object' || key === null || Buffer.isBuffer(key) || Array.isArray(key)
}

// An object that a client has sent could name other columns, or none, and so find rows that the program did not mean.
function requireKey(model: ModelStatic<Model>, key: object): void {
  const [given, needed] = [Object.keys(key).toSorted(), model.primaryKeyAttributes.toSorted()]
  if (given.join() === needed.join()) return
  throw new TypeError(
    `session.get(${model.name}, ...): the key is { ${needed.join(', ')} }, got { ${given.join(', ')} }. ` +
      `To find a row by other columns, write session.first(select(${model.name}, { where: { ... } })).`,
  )
}
