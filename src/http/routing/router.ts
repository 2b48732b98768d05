import { BootError } from '../../core/boot-error.js'
import { MethodNotAllowed, NotFound } from '../errors.js'
import { type Segment, splitPath } from './path.js'

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
  readonly routes: Map<string, R>
}

interface Found<R> {
  readonly node: Node<R>
  readonly values: readonly string[]
}

/** Finds the route of a path. Fixed segments take precedence over variables; one slash at the end is ignored. */
export class Router<R extends Routable> {
  readonly #root: Node<R> = newNode()
  readonly #methods = new Set<string>()

  /** @throws BootError when another route has the same method and path. */
  add(route: R): void {
    let node = this.#root
    for (const segment of route.segments) node = child(node, segment)
    const other = node.routes.get(route.method)
    if (other) {
      throw new BootError(
        `${route.name} and ${other.name} both handle ${route.method} ${describePath(route)}. Change the path or the method of one.`,
      )
    }
    node.routes.set(route.method, route)
    this.#methods.add(route.method)
  }

  /** @throws NotFound; MethodNotAllowed with the `Allow` header; BadRequest for an invalid percent-encoding. */
  match(method: string, path: string): Match<R> {
    const texts = split(path)
    const candidates = [...find(this.#root, texts, 0, [])]
    for (const { node, values } of candidates) {
      const route = node.routes.get(method) ?? (method === 'HEAD' ? node.routes.get('GET') : undefined)
      if (route) return { route, variables: nameValues(route, values) }
    }
    throw new MethodNotAllowed(`This address does not support ${method}.`, {
      headers: { allow: allowedMethods(candidates).join(', ') },
    })
  }

  /** The methods of a path; for `*`, those of all paths. @throws NotFound when it has none. */
  allowed(path: string): readonly string[] {
    if (path === '*') return withImplied([...this.#methods])
    return allowedMethods([...find(this.#root, split(path), 0, [])])
  }
}

function newNode<R>(): Node<R> {
  return { fixed: new Map(), variable: undefined, routes: new Map() }
}

function child<R>(node: Node<R>, segment: Segment): Node<R> {
  if (segment.kind === 'variable') return (node.variable ??= newNode())
  const known = node.fixed.get(segment.text) ?? newNode<R>()
  node.fixed.set(segment.text, known)
  return known
}

// '/a//b' -> ['a', '', 'b'], which matches no route.
function split(path: string): readonly string[] {
  if (!path.startsWith('/')) throw nothingHere()
  return splitPath(path)
}

// For '/heros/latest', the route '/heros/latest' comes before '/heros/:hero_id'.
function* find<R>(
  node: Node<R>,
  texts: readonly string[],
  depth: number,
  values: readonly string[],
): Generator<Found<R>> {
  const text = texts[depth]
  if (text === undefined) {
    if (node.routes.size > 0) yield { node, values }
    return
  }
  const fixed = node.fixed.get(text)
  if (fixed) yield* find(fixed, texts, depth + 1, values)
  if (node.variable && text !== '') yield* find(node.variable, texts, depth + 1, [...values, text])
}

function nothingHere(): NotFound {
  return new NotFound('There is nothing at this address.')
}

function nameValues(route: Routable, values: readonly string[]): Record<string, string> {
  const names = route.segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []))
  // The match has a value for each variable of the path.
  return Object.fromEntries(names.map((name, index) => [name, values[index] as string]))
}

function allowedMethods<R>(candidates: readonly Found<R>[]): readonly string[] {
  if (candidates.length === 0) throw nothingHere()
  return withImplied(candidates.flatMap(({ node }) => [...node.routes.keys()]))
}

function withImplied(methods: readonly string[]): readonly string[] {
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
}

function describePath({ segments }: Routable): string {
  return `/${segments.map((segment) => (segment.kind === 'fixed' ? segment.text : `:${segment.name}`)).join('/')}`
}
