import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  dto,
  Get,
  Inject,
  newLifespan,
  Paginate as OffsetPaginate,
  select,
  type Select,
} from 'sequitur'
import { newPagination, Page, Paginate } from 'sequitur/cursor'
import type { Constructor } from '../../src/di/token.js'
import { bootMessage } from '../support/api.js'

/*
 * A cursor page without an order is refused at startup where the text of the handler shows it. Of other statements, the first request says it: cursor.test.ts.
 */

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column(DataType.STRING) declare text: string
}

@DefaultScope(() => ({ order: ['text'] }))
@Table({ tableName: 'sorted_note', timestamps: false })
class SortedNote extends Base<SortedNote> {
  @Column(DataType.STRING) declare text: string
}

class NoteRow extends dto(Note, { pick: ['text'] }) {}
class Small<T> extends newPagination({ maxPageSize: 20 })<T> {}
const options: object = { order: ['text'] }

const refused = {
  plain: () => {
    @Controller('/notes')
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        return paginate(select(Note))
      }
    }
    return Notes
  },
  'with other options, a dto, and a paginator of its own': () => {
    @Controller('/notes')
    class Notes {
      @Get('/', Page.of(NoteRow)) async list(@Inject(Small) paginate: Small<Note>) {
        const page = await paginate(select(Note, { where: { text: 'a' }, attributes: ['text'] }))
        return page
      }
    }
    return Notes
  },
}

for (const [name, declare] of Object.entries(refused))
  test(`a cursor page without an order fails at startup: ${name}`, () => {
    assert.equal(
      start(declare()),
      'BootError: Notes.list: paginate(select(Note)): a cursor page needs an explicit order, as a cursor is a position in it. ' +
        "Write one: paginate(select(Note, { order: [['created_at', 'DESC']] })).",
    )
  })

const accepted = {
  'it has an order': () => {
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        return paginate(select(Note, { order: ['text'] }))
      }
    }
    return Notes
  },
  'its options are not written there': () => {
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        return paginate(select(Note, options))
      }
      @Get('/spread', Page.of(Note)) spread(paginate: Paginate<Note>) {
        return paginate(select(Note, { ...options }))
      }
    }
    return Notes
  },
  'its model has a default scope': () => {
    class Notes {
      @Get('/', Page.of(SortedNote)) list(paginate: Paginate<SortedNote>) {
        return paginate(select(SortedNote))
      }
    }
    return Notes
  },
  'the name means something else there, or is in a comment': () => {
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        const Note = sorted()
        return paginate(select(Note))
      }
      @Get('/comment', Page.of(Note)) comment(paginate: Paginate<Note>, other: OffsetPaginate<Note>) {
        // Not paginate(select(Note)).
        void other(select(Note))
        return paginate(statement())
      }
    }
    return Notes
  },
}

for (const [name, declare] of Object.entries({
  'select() is a function of the program': () => {
    const select = byText
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        return paginate(select(Note))
      }
    }
    return Notes
  },
  'the model is another one of this name': () => {
    const Note = sorted()
    class Notes {
      @Get('/', Page.of(NoteRow)) list(paginate: Paginate<Note>) {
        return paginate(select(Note))
      }
    }
    return Notes
  },
  'select() is declared in the handler': () => {
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        const { select } = { select: byText }
        return paginate(select(Note))
      }
      @Get('/function', Page.of(Note)) inFunction(paginate: Paginate<Note>) {
        function select(model: typeof Note): Select<Note> {
          return byText(model)
        }
        return paginate(select(Note))
      }
      @Get('/parameter', Page.of(Note)) parameter(paginate: Paginate<Note>) {
        const pages = [byText].map((select) => paginate(select(Note)))
        return pages[0] as (typeof pages)[number]
      }
    }
    return Notes
  },
  'paginate() is another function there': () => {
    class Notes {
      @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
        const shown = (paginate: (statement: Select<Note>) => unknown) => paginate(select(Note))
        void shown(String)
        return paginate(byText(Note))
      }
    }
    return Notes
  },
}))
  test(`a cursor page is left to its requests where ${name}`, () => {
    const Notes = declare()
    Controller('/notes')(Notes)
    assert.equal(start(Notes), 'it started')
  })

const byText = (model: typeof Note) => select(model, options)

function sorted(): typeof Note {
  return class extends Note {}
}

function statement(): Select<Note> {
  return select(Note, options)
}

for (const [name, declare] of Object.entries(accepted))
  test(`a cursor page is left to its requests where ${name}`, () => {
    const Notes = declare()
    Controller('/notes')(Notes)
    assert.equal(start(Notes), 'it started')
  })

function start(controller: Constructor): string {
  const lifespan = newLifespan('sqlite+sqlite3:///:memory:')
  return bootMessage([controller], { lifespan, models: [Note, SortedNote] })
}
