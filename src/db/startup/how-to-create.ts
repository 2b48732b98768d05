import { MetadataKey } from '../../di/metadata.js'

/** Advice on the missing table of a model that belongs to a part of this package: a sentence for the error at startup. */
export const howToCreate = new MetadataKey<string>()
