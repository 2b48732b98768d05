import type { Injected, Token } from '../../di/token.js'
import type { Reply } from '../output/reply.js'

/** A token for each parameter: a class, a named token, or String, Number, Boolean. */
export type ParameterTokens = readonly (
  | Token
  | NumberConstructor
  | StringConstructor
  | BooleanConstructor
  | BigIntConstructor
)[]

type Values<K extends ParameterTokens> = { -readonly [I in keyof K]: Injected<K[I]> }

// any: a handler may have any parameters; this decorator checks only what it returns.
// oxlint-disable typescript/no-explicit-any
type Handler = (...args: any[]) => unknown

/** The handler that should be written instead of `F`: asynchronous, and with a Reply, if `F` is. So the compiler names what differs. */
type Expected<F extends Handler, R, O> = (...args: any[]) => ExpectedResult<ReturnType<F>, R, O>

type ExpectedResult<V, R, O> = [V] extends [never]
  ? never
  : V extends Promise<infer Later>
    ? Promise<ExpectedValue<Later, R, O>>
    : ExpectedValue<V, R, O>

type ExpectedValue<V, R, O> = [V] extends [never] ? never : V extends Reply<unknown> ? Reply<R | O> : R

// Of a property descriptor, only what is read: its setter would require that both handlers are the same.
interface MethodLike<F> {
  readonly value?: F
}

/** A method decorator that the compiler checks against what the handler returns. */
export type RouteDecorator<R, O = never> = <F extends Handler>(
  target: object,
  member: string,
  descriptor: TypedPropertyDescriptor<F> & MethodLike<Expected<F, R, O>>,
) => void

type SameLength<
  Tokens extends readonly unknown[],
  F extends (...args: any[]) => unknown,
> = Parameters<F>['length'] extends Tokens['length']
  ? unknown
  : Tokens['length'] extends Parameters<F>['length']
    ? unknown
    : {
        readonly error: 'params and the parameters differ in number'
        readonly params: Tokens['length']
        readonly parameters: Parameters<F>['length']
      }

/** Checks a handler's parameters against `params: [...]`, one by one, and its result against the declared response. */
export type CheckedRouteDecorator<R, K extends ParameterTokens, O = never> = <F extends Handler>(
  target: object,
  member: string,
  descriptor: TypedPropertyDescriptor<F & ((...args: Values<K>) => any) & SameLength<Values<K>, F>> &
    MethodLike<Expected<F, R, O>>,
) => void
// oxlint-enable typescript/no-explicit-any
