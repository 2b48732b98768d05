/** The end of a call that decorates a field: decorate([Field()], Hero.prototype, "name", void 0), or Hero for a static one. */
const DECORATED_FIELD = /\], ([\w$]+)(\.prototype)?, ("(?:[^"\\]|\\.)*"|[\w$]+), void 0\)/g

/**
 * `name` is quoted, or the variable of a computed name. `start` is the place after the last decorator, `ownerEnd` that after `Hero.prototype`, in the code.
 * @typedef {{ text: string, type: string, isStatic: boolean, name: string, start: number, ownerEnd: number }} DecoratedField
 */

/**
 * The fields that compiled code decorates.
 * @param {string} code
 * @returns {DecoratedField[]}
 */
export function decoratedFields(code) {
  return [...code.matchAll(DECORATED_FIELD)].map(
    ({ 0: text, 1: type = '', 2: prototype = '', 3: name = '', index }) => ({
      text,
      type,
      isStatic: prototype === '',
      name,
      start: index,
      ownerEnd: index + `], ${type}${prototype}`.length,
    }),
  )
}
