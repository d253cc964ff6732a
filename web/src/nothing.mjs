// Stands in for packages that a figure must not need.
export default null;
