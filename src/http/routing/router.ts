import { BootError } from '../../core/boot-error.js'
import { MethodNotAllowed, NotFound } from '../errors.js'
import { pathPattern, type Segment, splitPath, variablesOf } from './path.js'

/** The part of a route that the router uses. */
export interface Routable {
  readonly method: string
  readonly segments: readonly Segment[]
  /** `HeroController.list`, for messages. */
  readonly name: string
}

export interface Match<R> {
  readonly route: R
  /** The values of the path's variables, decoded. */
  readonly variables: Readonly<Record<string, string>>
}

interface Node<R> {
  readonly fixed: Map<string, Node<R>>
  variable: Node<R> | undefined
  /** The node of the routes whose paths end here with a tail. */
  tail: Node<R> | undefined
  /** By their method. */
  readonly routes: Map<string, Target<R>>
}

interface Target<R> {
  readonly route: R
  /** The names of the path's variables, in their order. */
  readonly variables: readonly string[]
}

/** A path whose segments are the same encoded and decoded. */
const SAME_DECODED = /^(?:\/[\w.~-]+)+$/

/** Finds the route of a path. Fixed segments take precedence over variables, and these over a tail; one slash at the end is ignored. */
export class Router<R extends Routable> {
  readonly #root: Node<R> = newNode()
  /** The matches of the paths without variables, by path and method: most requests for them need not be split. */
  readonly #fixed = new Map<string, Map<string, Match<R>>>()
  readonly #methods = new Set<string>()

  /** @throws BootError when another route has the same method and path. */
  add(route: R): void {
    let node = this.#root
    for (const segment of route.segments) node = child(node, segment)
    const other = node.routes.get(route.method)
    if (other) {
      throw new BootError(
        `${route.name} and ${other.route.name} both handle ${route.method} ${pathPattern(route.segments)}. Change the path or the method of one.`,
      )
    }
    const variables = variablesOf(route.segments)
    node.routes.set(route.method, { route, variables })
    this.#methods.add(route.method)
    if (variables.length === 0) this.#addFixed(route)
  }

  #addFixed(route: R): void {
    const path = pathPattern(route.segments)
    if (!SAME_DECODED.test(path)) return
    const matches = this.#fixed.get(path) ?? new Map<string, Match<R>>()
    this.#fixed.set(path, matches.set(route.method, { route, variables: NO_VARIABLES }))
  }

  /** @throws NotFound; MethodNotAllowed with the `Allow` header; BadRequest for an invalid percent-encoding. */
  match(method: string, path: string): Match<R> {
    const known = this.#fixed.get(path)?.get(method)
    if (known) return known
    const texts = split(path)
    const values: string[] = []
    const target = find(this.#root, texts, 0, values, ({ routes }) => targetOf(routes, method))
    if (target) return { route: target.route, variables: nameValues(target.variables, values) }
    throw new MethodNotAllowed(`This address does not support ${method}.`, {
      headers: { allow: allowedMethods(this.#root, texts).join(', ') },
    })
  }

  /** The methods of a path; for `*`, those of all paths. @throws NotFound when it has none. */
  allowed(path: string): readonly string[] {
    if (path === '*') return withImplied([...this.#methods])
    return allowedMethods(this.#root, split(path))
  }
}

function newNode<R>(): Node<R> {
  return { fixed: new Map(), variable: undefined, tail: undefined, routes: new Map() }
}

function child<R>(node: Node<R>, segment: Segment): Node<R> {
  if (segment.kind === 'variable') return (node.variable ??= newNode())
  if (segment.kind === 'tail') return (node.tail ??= newNode())
  const known = node.fixed.get(segment.text) ?? newNode<R>()
  node.fixed.set(segment.text, known)
  return known
}

// '/a//b' -> ['a', '', 'b'], which matches no route.
function split(path: string): readonly string[] {
  if (!path.startsWith('/')) throw nothingHere()
  return splitPath(path)
}

/**
 * The result of `pick` for the first node of the path for which it returns something; `values` has those of the variables then. For
 * '/heros/latest', the route '/heros/latest' comes before '/heros/:hero_id', and that before '/heros/*path'.
 */
function find<R, F>(
  node: Node<R>,
  texts: readonly string[],
  depth: number,
  values: string[],
  pick: (node: Node<R>) => F | undefined,
): F | undefined {
  const text = texts[depth]
  if (text === undefined) return pick(node)
  const fixed = node.fixed.get(text)
  const found = fixed && find(fixed, texts, depth + 1, values, pick)
  if (found !== undefined || text === '') return found
  if (node.variable) {
    values.push(text)
    const other = find(node.variable, texts, depth + 1, values, pick)
    if (other !== undefined) return other
    values.pop()
  }
  return node.tail && findTail(node.tail, texts.slice(depth), values, pick)
}

function findTail<R, F>(
  tail: Node<R>,
  texts: readonly string[],
  values: string[],
  pick: (node: Node<R>) => F | undefined,
): F | undefined {
  // For 'admin%2Fusers', middleware for '/admin' has not seen a path below it.
  const found = texts.some((text) => text === '' || text.includes('/')) ? undefined : pick(tail)
  if (found !== undefined) values.push(texts.join('/'))
  return found
}

function targetOf<R>(routes: ReadonlyMap<string, Target<R>>, method: string): Target<R> | undefined {
  return routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined)
}

function nothingHere(): NotFound {
  return new NotFound('There is nothing at this address.')
}

const NO_VARIABLES: Readonly<Record<string, string>> = {}

function nameValues(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  const [first] = names
  if (first === undefined) return NO_VARIABLES
  // The match has a value for each. In brackets, `__proto__` is a name like others, as with fromEntries(), which takes longer.
  if (names.length === 1) return { [first]: values[0] as string }
  return Object.fromEntries(names.map((name, index) => [name, values[index] as string]))
}

function allowedMethods<R>(root: Node<R>, texts: readonly string[]): readonly string[] {
  const methods: string[] = []
  find(root, texts, 0, [], ({ routes }) => void methods.push(...routes.keys()))
  if (methods.length === 0) throw nothingHere()
  return withImplied(methods)
}

function withImplied(methods: readonly string[]): readonly string[] {
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
}
