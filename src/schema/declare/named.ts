import { BootError } from '../../core/boot-error.js'
import { text } from '../../core/option-checks.js'
import { shown } from '../../core/options.js'
import type { DataOf, Described, Literal, Shape } from '../shape/shape.js'
import { isLiteral, shapeOf } from '../shape/shape-of.js'

/**
 * An object of declared types with a name in the OpenAPI document, where it is a component.
 *
 * @throws BootError for a name or an object that is none.
 * @example
 * const ArticleList = named('ArticleList', { articles: [Article], articlesCount: 'integer' })
 */
export function named<const S extends Literal>(name: string, type: S): Described<DataOf<S>> {
  text(`a name, such as 'ArticleList'`)(name, 'named(): the name')
  if (!isLiteral(type))
    throw new BootError(
      `named('${name}', ...): ${shown(type)} is not an object of types. Write { articles: [Article] }.`,
    )
  let shape: Shape | undefined
  return { shape: () => (shape ??= { ...shapeOf(type), name, anonymous: false } as Shape) } // the shape of an object
}
