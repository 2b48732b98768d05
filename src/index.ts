import 'reflect-metadata'

// The app and its controllers
export { type Address, App, type AppOptions, createApp } from './http/app.js'
export type { ErrorSettings, Timeouts } from './http/app-options.js'
export type { HealthOptions } from './http/health/health-options.js'
export type { Around } from './http/routing/around.js'
export { Controller, type ControllerOptions } from './http/routing/controller.js'
export { Delete, Get, Patch, Post, Put, type RouteOptions } from './http/routing/methods.js'
export { reply, Reply, type ReplyOptions } from './http/output/reply.js'
export { file, type FileOptions } from './http/output/file.js'
export { events, Events, type EventsOptions } from './http/output/events.js'
export type { ServerEvent } from './http/output/events.js'
export { redirect, type RedirectOptions } from './http/output/redirect.js'
export { Body, Cookie, Header, Path, Query } from './http/input/parameters.js'
export type { BodyOptions, InputDecorator, InputOptions } from './http/input/parameter-type.js'
export { guard, type GuardOptions } from './http/routing/guard.js'
export { Security, type SecurityOptions, type SecurityScheme } from './http/routing/security.js'
export { Request } from './http/request.js'
export { Budget } from './http/routing/budget.js'
export type { QueryBudget, QueryBudgetOption } from './http/observation/query-budget.js'
export type { LogFields, LogValue } from './http/observation/log-entry.js'
export { RequestLogger } from './http/observation/request-logger.js'
export type { LogFormat, LogOptions } from './http/observation/log-options.js'
export type { Logger } from './http/server/logger.js'
export type { Middleware, ScopedMiddleware } from './http/routing/middleware.js'
export type { Lifespan } from './http/lifespan.js'
export { type ErrorFormat, errorFormat } from './http/error-format.js'
export { type ErrorMapping, mapError } from './http/error-mapping.js'
export type { OwnResponse, Problem, Translate } from './http/problem.js'

// Schemas: fields, DTOs, unions
export { dto, type DtoOptions } from './schema/declare/dto.js'
export type { StandardSchema } from './schema/shape/standard-schema.js'
export { Field, type FieldDecorator } from './schema/declare/field.js'
export { UnknownFields, type UnknownFieldsRule } from './schema/declare/unknown-fields.js'
export { mapOf, type MapOptions } from './schema/declare/map-of.js'
export { named } from './schema/declare/named.js'
export { oneOf } from './schema/declare/one-of.js'
export type { ValueOptions } from './schema/declare/value-options.js'
export type { Declared } from './schema/declare/value-type.js'

// Injection
export { Factory, type FactoryDecorator } from './di/factory-method.js'
export { Inject } from './di/parameter.js'
export { Injectable, type Lifetime, provide, type Provision, type Recipe } from './di/provider.js'
export { type NamedToken, token, type Token } from './di/token.js'

// The database
export { Base } from './db/base.js'
export type { LifespanOptions } from './db/config/lifespan-options.js'
export type { Database } from './db/database.js'
export { lifespan, newLifespan } from './db/lifespan.js'
export { withSession, withSession as open_session } from './db/with-session.js'
export { Session } from './db/session/session.js'
export { select, type Select, sql, type Sql } from './db/statements/statement.js'
export { Transactional, type TransactionalOptions } from './db/session/transactional.js'

// Pages
export { newPagination, newPagination as new_pagination, Paginate } from './paging/offset/offset-paginate.js'
export type {
  MappedPaginate,
  MappedPaginationOptions,
  PaginateType,
  PaginationOptions,
  UncountedPaginationOptions,
} from './paging/offset/offset-types.js'
export type { EtagOptions } from './paging/envelope.js'
export { Collection, Item, Page, type PageMeta, UncountedPage, type UncountedPageMeta } from './paging/page.js'

// Errors with a status
export {
  BadRequest,
  badRequest,
  Conflict,
  conflict,
  Forbidden,
  forbidden,
  HttpError,
  type InputIssue,
  InvalidInput,
  invalidInput,
  MethodNotAllowed,
  NotFound,
  notFound,
  PayloadTooLarge,
  ServiceUnavailable,
  serviceUnavailable,
  TooManyRequests,
  tooManyRequests,
  Unauthorized,
  unauthorized,
  UnsupportedMediaType,
} from './http/errors.js'
