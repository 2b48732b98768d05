/** What a record of a model knows of itself: `dataValues` are the columns and associations that were read or set. */
interface ModelRecord {
  readonly dataValues: Readonly<Record<string, unknown>>
  readonly getDataValue: unknown
  /** `attributes` are those that a query has read; undefined for a record that was made. */
  readonly _options?: { readonly attributes?: readonly unknown[] }
  readonly constructor: {
    readonly associations?: Readonly<Record<string, { readonly associationType: string; readonly foreignKey: string }>>
    readonly rawAttributes?: Readonly<Record<string, object>>
    readonly _virtualAttributes?: ReadonlySet<string>
  }
}

export function isModelRecord(source: object): source is ModelRecord {
  const { dataValues, getDataValue } = source as Partial<ModelRecord>
  return typeof dataValues === 'object' && dataValues !== null && typeof getDataValue === 'function'
}

/**
 * Whether a property of a record that is undefined has a value which is not known here: a column that a query has not selected, an association that it
 * has not included. A record that was made has null in the columns that were not set.
 */
export function isUnread(source: ModelRecord, name: string): boolean {
  const { dataValues, _options, constructor: model } = source
  if (Object.hasOwn(dataValues, name)) return false
  const wasRead = _options?.attributes !== undefined
  const association = model.associations?.[name]
  if (association?.associationType === 'BelongsTo') {
    const key = dataValues[association.foreignKey]
    return wasRead ? key !== null : key !== null && key !== undefined
  }
  if (association) return wasRead
  const isColumn = Object.hasOwn(model.rawAttributes ?? {}, name) && !model._virtualAttributes?.has(name)
  return wasRead && (isColumn || !(name in source))
}
