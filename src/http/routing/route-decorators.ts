import type { Injected, Token } from '../../di/token.js'
import type { Reply } from '../output/reply.js'
import type { HaveSameLength, ParamsMistake, ResponseMistake } from './handler-mistakes.js'

/** A token for each parameter: a class, a named token, or String, Number, Boolean. */
export type ParameterTokens = readonly (
  | Token
  | NumberConstructor
  | StringConstructor
  | BooleanConstructor
  | BigIntConstructor
)[]

type Values<K extends ParameterTokens> = { -readonly [I in keyof K]: Injected<K[I]> }

// any: a handler may have any parameters; these decorators check what it returns.
// oxlint-disable typescript/no-explicit-any
type Handler = (...args: any[]) => unknown

/** The handler that should be written instead of `F`: asynchronous, and with a Reply, if `F` is. */
type Expected<F extends Handler, R, O> = (...args: any[]) => ExpectedResult<ReturnType<F>, R, O>

type ExpectedResult<V, R, O> = [V] extends [never]
  ? never
  : V extends Promise<infer Later>
    ? Promise<ExpectedValue<Later, R, O>>
    : ExpectedValue<V, R, O>

type ExpectedValue<V, R, O> = [V] extends [never] ? never : V extends Reply<unknown> ? Reply<R | O> : R

/**
 * Only the part of a property descriptor that is read: its setter would require that both handlers are the same. No descriptor has the other property:
 * without it, the compiler would first look for a signature with supertypes, and find the one for handlers that differ.
 */
interface MethodLike<F> {
  readonly value?: F
  readonly notInDescriptors?: never
}

/**
 * A method decorator that the compiler checks against what the handler returns. The second signature is the one of a handler that differs: a
 * decorator must return nothing, so that the compiler displays the mistake.
 */
export interface RouteDecorator<R, O = never> {
  <F extends Handler>(
    target: object,
    member: string,
    descriptor: TypedPropertyDescriptor<F> & MethodLike<Expected<F, R, O>>,
  ): void
  <F extends Handler>(target: object, member: string, descriptor: MethodLike<F>): ResponseMistake<ReturnType<F>, R, O>
}

type SameLength<V extends readonly unknown[], P extends readonly unknown[]> =
  HaveSameLength<V, P> extends true ? unknown : never

/** Checks a handler's parameters against `params: [...]`, one by one, and its result against the declared response. */
export interface CheckedRouteDecorator<R, K extends ParameterTokens, O = never> {
  <F extends Handler>(
    target: object,
    member: string,
    descriptor: TypedPropertyDescriptor<F & ((...args: Values<K>) => any) & SameLength<Values<K>, Parameters<F>>> &
      MethodLike<Expected<F, R, O>>,
  ): void
  <F extends Handler>(
    target: object,
    member: string,
    descriptor: MethodLike<F>,
  ): ParamsMistake<Values<K>, Parameters<F>, ResponseMistake<ReturnType<F>, R, O>>
}
// oxlint-enable typescript/no-explicit-any
