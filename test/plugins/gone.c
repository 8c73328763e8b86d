/* A library that a plugin was linked with, and that is not there when it is loaded. */
int gone(void);
int gone(void) {
    return 0;
}
