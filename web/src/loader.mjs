// A Vega loader that loads nothing: a figure carries its data, and no specification, however it
// was made, may reach the network or the disk.
const refuse = (uri) => Promise.reject(new Error(`a figure may not load ${uri}`));

export const refusingLoader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };
