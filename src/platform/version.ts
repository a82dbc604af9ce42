/** The version of this release, equal to package.json. */
export const VERSION = '0.1.0'
