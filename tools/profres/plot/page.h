/* The script and the style of the page, line by line; made from plot.js and plot.css. */
#ifndef PFR_PLOT_PAGE_H
#define PFR_PLOT_PAGE_H

/* Each ends with NULL. */
extern const char *const pfr_page_js[], *const pfr_page_css[];

#endif
