// The words of scripts/prose.js: what has a better word in docs and comments. A word in quotes or in code is not looked at.

/** Words of a sentence, code counting as one. */
export const MOST_WORDS = 45

/** @type {readonly (readonly [worse: RegExp, better: string])[]} */
export const BETTER = [
  [/\bgo(?:es|ing)? on\b/i, 'continue'],
  [/\bwent on\b/i, 'continued'],
  [/\bnobody\b/i, 'no one'],
  [/\bsomebody\b/i, 'someone, or who it is: a caller, a client'],
  [/\bbesides?\b/i, 'next to, with, or also'],
  [/\bbehind (?:it|them|the (?:response|commit|request|handler|head|last|other))\b/i, 'after, if it is about time'],
  [/\bbehind (?:COMMIT|BEGIN|ROLLBACK)\b/, 'after'],
  [/\binside of\b/i, 'inside'],
  [/\bin the place of\b/i, 'instead of'],
  [/\bthat which\b/i, 'what'],
  [/\blikewise\b/i, 'also, or too'],
  [/\bunlike to\b/i, 'unlike'],
  [/\bof the kind\b/i, 'such'],
  [/\bin order to\b/i, 'to'],
  [/\bdue to the fact that\b/i, 'because'],
  [/\b(?:utili[sz]e|leverage)s?\b/i, 'use'],
  [/\b(?:simply|obviously|of course)\b/i, 'without it'],
  [/\b(?:whitelist|blacklist)/i, 'allow, or deny'],
  [/\be\.g\.|\bi\.e\./i, 'such as, or that is'],
]
