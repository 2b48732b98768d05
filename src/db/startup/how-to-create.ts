import { MetadataKey } from '../../di/metadata.js'

/** What to write for the missing table of a model that belongs to a part of this package: a sentence for the error at startup. */
export const howToCreate = new MetadataKey<string>()
