import ssh2 from 'ssh2'

// A package of CommonJS whose names Node does not see.
export const { Server, utils } = ssh2
