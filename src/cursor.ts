// Pages by cursor, under the same names as pages by offset.
export {
  CursorPaginate as Paginate,
  type CursorPaginateType as PaginateType,
  newCursorPagination as newPagination,
  newCursorPagination as new_pagination,
} from './paging/cursor/cursor-paginate.js'
export { CursorPage as Page, type CursorPageMeta as PageMeta, TwoWayPage, type TwoWayPageMeta } from './paging/page.js'
export { typed, type Typing } from './paging/order-columns.js'
export { pages } from './paging/cursor/pages.js'
