import type { RecordReading } from '../../schema/output/record-reading.js'
import { type InstanceInternals, instanceInternals } from '../sequelize/internals.js'
import type { Model } from 'sequelize'

/** What an instance of a model knows of itself: `dataValues` are the columns and associations that were read or set. */
export const instanceReading: RecordReading = {
  selected(record, name) {
    const { dataValues } = instanceInternals(record as Model) // only instances have this member
    return Object.hasOwn(dataValues, name) && !(name in record) ? dataValues[name] : undefined
  },

  isUnread(record, name) {
    const instance = instanceInternals(record as Model)
    if (Object.hasOwn(instance.dataValues, name)) return false
    const association = instance.constructor.associations[name]
    if (association?.associationType === 'BelongsTo') return mayBelong(instance, association.foreignKey)
    return wasRead(instance) && (association !== undefined || isColumn(instance, name) || !(name in record))
  },
}

/** Whether a query has read the instance. One that was made has null in the columns that were not set. */
function wasRead({ _options: options }: InstanceInternals): boolean {
  return options.attributes !== undefined
}

/** Whether there may be a record that the foreign key names. */
function mayBelong(instance: InstanceInternals, foreignKey: string): boolean {
  const key = instance.dataValues[foreignKey]
  return key !== null && (key !== undefined || wasRead(instance))
}

function isColumn({ constructor: model }: InstanceInternals, name: string): boolean {
  return Object.hasOwn(model.rawAttributes, name) && !model._virtualAttributes.has(name)
}
