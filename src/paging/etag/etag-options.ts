import { type OptionNames, refuseOtherType, refuseUnknownOptions } from '../../core/options.js'
import { countBulkUpdates, rowVersion } from '../../db/models/row-version.js'
import { propertiesOf, type Shape, type VersionOf } from '../../schema/shape/shape.js'

/** The options of `Item.of(Hero, options)` and of the other envelopes. */
export interface EtagOptions {
  /**
   * Sends an ETag, and 304 for `If-None-Match`. Of an item whose model has `version: true` it is the version of the row; of everything else a digest
   * of the body. Default: false.
   */
  readonly etag?: boolean
}

const OPTIONS: OptionNames<EtagOptions> = { etag: true }

/** @throws BootError for an unknown option, and for an etag that is no boolean. */
export function hasEtag(name: string, options: EtagOptions): boolean {
  const where = `${name}.of(Hero, options)`
  refuseUnknownOptions(where, options, OPTIONS)
  refuseOtherType(`${where}: etag`, options.etag, 'boolean', 'true or false')
  return options.etag === true
}

/** The version of the row in `{ data }`. */
export function itemVersion(item: Shape): VersionOf {
  if (item.kind === 'object') countBulkUpdates(item.source ?? item.origin)
  let names: readonly string[] | undefined
  return (value) => {
    if (!('data' in value)) return undefined
    names ??= item.kind === 'object' ? propertiesOf(item, 'output').map(([name]) => name) : []
    return rowVersion(value.data, names)
  }
}
