import { Op, type Sequelize, Utils } from 'sequelize'
import { queryGeneratorOf } from '../sequelize/internals.js'

/**
 * Makes Sequelize write a literal next to other conditions in parentheses: without them, the OR of `literal('a OR b')` separates these
 * conditions, so that `ON owner = id AND a OR b` finds rows of other owners, and `deleted IS NULL AND a OR b` finds deleted rows. What
 * `Op.not` has as its only condition is negated, which Sequelize forgets of literals and `where()`.
 */
export function parenthesizeLiterals(sequelize: Sequelize): void {
  const generator = queryGeneratorOf(sequelize)
  const { whereItemQuery, generateThroughJoin } = generator
  generator.whereItemQuery = (key, value, ...rest) => {
    const condition = whereItemQuery.call(generator, key, value, ...rest)
    if (!condition) return condition
    // Sequelize itself negates functions, and conditions that are objects.
    const isNegated = key === Op.not && value instanceof Utils.SequelizeMethod && !(value instanceof Utils.Fn)
    if (!isNegated && !(value instanceof Utils.Literal)) return condition
    return `${isNegated ? 'NOT ' : ''}(${condition}${COMMENT.test(condition) ? '\n' : ''})`
  }
  // The condition of a belongsToMany is written differently. The options are a copy that Sequelize made for the query.
  generator.generateThroughJoin = (include, names, ...rest) => {
    include.where = parenthesized(include.where)
    include.through.where = parenthesized(include.through.where)
    return generateThroughJoin.call(generator, include, names, ...rest)
  }
}

/** A possible beginning of a comment to the end of the line, which would hide the parenthesis. */
const COMMENT = /--|#/

function parenthesized(where: unknown): unknown {
  return where instanceof Utils.Literal ? { [Op.and]: [where] } : where
}
