import { checkOptions, flag, type OptionChecks } from '../core/option-checks.js'
import { addSentNames, countBulkUpdates, rowVersion } from '../db/models/row-version.js'
import { propertiesOf, type Shape, type VersionOf } from '../schema/shape/shape.js'

/** The options of `Item.of(Hero, options)` and of the other envelopes. */
export interface EtagOptions {
  /**
   * Sends an ETag, and 304 for `If-None-Match`. Of an item whose model has `version: true` it is the version of the row, with digests; of everything else a
   * digest of the body. Default: false.
   */
  readonly etag?: boolean
}

const OPTIONS: OptionChecks<EtagOptions> = { etag: flag }

/** @throws BootError for an unknown option, and for an etag that is no boolean. */
export function hasEtag(name: string, options: EtagOptions): boolean {
  checkOptions(`${name}.of(Hero, options)`, options, OPTIONS)
  return options.etag === true
}

/** The version of the row in `{ data }`. */
export function itemVersion(item: Shape): VersionOf {
  const isObject = item.kind === 'object'
  let found: readonly string[] | undefined
  const names = () => (found ??= isObject ? propertiesOf(item, 'output').map(([name]) => name) : [])
  if (isObject) {
    const model = item.source ?? item.origin
    countBulkUpdates(model)
    addSentNames(model, names)
  }
  return (value, source) => {
    const version = 'data' in value ? rowVersion(value.data, names(), source) : undefined
    return version && { ...version, coversBody: isObject && version.coversBody }
  }
}
