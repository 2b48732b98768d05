import { BootError } from '../../core/boot-error.js'
import { isOmissible, objectsIn, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import type { Input } from '../input/parameters.js'

/**
 * Refuses a response that requires properties which a client may leave out of its records.
 *
 * @throws BootError with their names.
 */
export function refuseRequiredFields(route: string, inputs: readonly Input[], response: Shape | undefined): void {
  for (const input of inputs) {
    if (input.kind !== 'group') continue
    const omitted = input.shape.inQuery?.mayOmit?.() ?? []
    const required = omitted.length > 0 && response ? requiredIn(response).filter((name) => omitted.includes(name)) : []
    if (required.length === 0) continue
    throw new BootError(
      `${route}: clients of ${input.where} may leave out ${required.join(', ')}, which the response requires. ` +
        `Make them optional in it: class HeroRow extends dto(Hero, { ..., partial: true }) {}.`,
    )
  }
}

/** The properties that records of a response must have: of the items of its lists. */
function requiredIn(response: Shape): readonly string[] {
  const lists = [response, ...objectsIn(response).flatMap(partsOf)].filter(({ kind }) => kind === 'array')
  const names = lists
    .flatMap(objectsIn)
    .flatMap((record) => propertiesOf(record, 'output'))
    .flatMap(([name, property]) => (isOmissible(property, 'output') ? [] : name))
  return [...new Set(names)]
}

function partsOf(shape: Parameters<typeof propertiesOf>[0]): readonly Shape[] {
  return propertiesOf(shape, 'output').map(([, property]) => property.shape)
}
